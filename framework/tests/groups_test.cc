// Groups of replicas: ids and addresses, and a runtime that names its peers by ids.
#include "depfast/host/groups.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "depfast/rpc.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Replica;

TEST(Groups, OneGroupHasIdsThatAreAddresses) {
  const Groups groups(3);
  EXPECT_EQ(groups.count(), 1);
  EXPECT_EQ(groups.size(0), 3);
  for (const PeerId any : {kNobody, 0, 2, 7, kFirstClient}) {
    EXPECT_EQ(groups.IdIn(0, any), any);
    EXPECT_EQ(groups.AddressIn(0, any), any);
  }
}

TEST(Groups, AnIdIsTheInverseOfAnAddress) {
  const Groups groups(6, {3, 1, 2});
  EXPECT_EQ(groups.count(), 3);
  EXPECT_EQ(groups.replicas(), 6);
  EXPECT_EQ(groups.AddressOf(2, 1), 5);
  const std::vector<int> expected = {0, 0, 0, 1, 2, 2};
  for (PeerId address = 0; address < 6; ++address) {
    EXPECT_EQ(groups.GroupOf(address), expected[static_cast<std::size_t>(address)]);
    for (int group = 0; group < groups.count(); ++group) {
      const PeerId id = groups.IdIn(group, address);
      EXPECT_EQ(id < kOtherGroups, groups.GroupOf(address) == group);
      EXPECT_EQ(groups.AddressIn(group, id), address);
    }
  }
}

TEST(Groups, AnIdOfNobodyHasNoReplicasAddress) {
  const Groups groups(5, {3, 2});
  for (const PeerId nobody : {2, 3, kOtherGroups + 3, kOtherGroups + 5, kFirstClient - 1}) {
    EXPECT_EQ(groups.AddressIn(1, nobody), Groups::kNoAddress) << nobody;
  }
  EXPECT_EQ(groups.AddressIn(1, kNobody), kNobody);
  EXPECT_EQ(groups.IdIn(1, kFirstClient + 4), kFirstClient + 4);
}

TEST(Groups, SizesMustFit) {
  EXPECT_THROW(Groups(3, {2, 2}), std::invalid_argument);
  EXPECT_THROW(Groups(2, {0, 2}), std::invalid_argument);
  EXPECT_THROW(Groups(0), std::invalid_argument);
  EXPECT_THROW(Groups(kOtherGroups, {}), std::invalid_argument);
}

// The replica at address 3, member 1 of the second of two groups.
class SecondGroup : public ::testing::Test {
 protected:
  Replica replica_{RuntimeOptions{.self = 3, .replicas = 5, .groups = {2, 3}}};
  Runtime& runtime_ = replica_.runtime;
};

TEST_F(SecondGroup, AReplicaSeesItsOwnGroup) {
  EXPECT_EQ(runtime_.group(), 1);
  EXPECT_EQ(runtime_.self(), 1);
  EXPECT_EQ(runtime_.replicas(), 3);
  EXPECT_EQ(runtime_.peers(), (std::vector<PeerId>{0, 2}));
  EXPECT_EQ(runtime_.address(), 3);
  EXPECT_EQ(runtime_.PeerOf(1, 2), 2);
  EXPECT_EQ(runtime_.PeerOf(0, 1), kOtherGroups + 1);
}

TEST_F(SecondGroup, CallsGoToAddressesAndRepliesComeFromIds) {
  const std::vector<std::pair<PeerId, PeerId>> callees = {{0, 2}, {runtime_.PeerOf(0, 1), 1}};
  for (const auto& [id, address] : callees) {
    std::shared_ptr<RpcEvent<TextReply>> call;
    replica_.In([&] { call = runtime_.rpc().Call(id, Echo{}); });
    EXPECT_EQ(replica_.host.sent.back().peer, address);
    const FrameHeader header{FrameKind::kReply, Echo::kMethod, call->id(), {}};
    replica_.runtime.DeliverFrame(address, EncodeFrame(header, TextReply{"an answer"}));
    ASSERT_TRUE(call->IsReady());
    EXPECT_EQ(call->reply().text, "an answer");
  }
}

TEST_F(SecondGroup, AHandlerSeesTheIdOfItsCaller) {
  std::vector<PeerId> callers;
  replica_.In([&] {
    runtime_.rpc().Handle<Echo>([&](PeerId from, const Echo&) {
      callers.push_back(from);
      return TextReply{};
    });
  });
  CallId call = 0;
  for (const PeerId from : {0, 4, kFirstClient}) {
    const FrameHeader header{FrameKind::kRequest, Echo::kMethod, ++call, {}};
    replica_.runtime.DeliverFrame(from, EncodeFrame(header, Echo{}));
  }
  replica_.Run();
  EXPECT_EQ(callers, (std::vector<PeerId>{kOtherGroups, 2, kFirstClient}));
  ASSERT_EQ(replica_.host.sent.size(), 3U);
  EXPECT_EQ(replica_.host.sent[0].peer, 0) << "the answer goes to the caller's address";
  EXPECT_EQ(replica_.host.sent[1].peer, 4);
}

}  // namespace
}  // namespace depfast
