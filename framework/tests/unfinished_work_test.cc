// The probe that counts coroutines and calls that have not ended.
#include "depfast/verify/unfinished_work.h"

#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <vector>

#include "depfast/rpc.h"
#include "depfast/verify/probes.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Replica;

constexpr PeerId kNoPeer = UnfinishedRow::kNoPeer;

// The request Echo under another name.
struct Alias : Echo {
  static constexpr const char* kName = "Alias";
};

class UnfinishedWorkTest : public ::testing::Test {
 protected:
  using Row = std::tuple<std::string, PeerId, std::uint64_t, std::uint64_t>;

  // The rows that a report has.
  std::vector<Row> Rows() const {
    const auto rows = UnfinishedWork::Read(work_.Report(replica_.runtime));
    std::vector<Row> out;
    for (const UnfinishedRow& row : rows.value()) {
      out.emplace_back(row.name, row.peer, row.now, row.most);
    }
    return out;
  }

  UnfinishedWork work_;
  Replica replica_{RuntimeOptions{.replicas = 4, .probes = {&work_}}};
};

TEST_F(UnfinishedWorkTest, CoroutinesAreCountedUntilTheyEnd) {
  for (int i = 1; i <= 3; ++i) replica_.Spawn("sleeper", [&] { replica_.runtime.Sleep(10ms); });
  replica_.Spawn("quick", [] {});
  replica_.Run();
  EXPECT_EQ(Rows(), (std::vector<Row>{{"quick", kNoPeer, 0, 1}, {"sleeper", kNoPeer, 3, 3}}));
  replica_.Advance(10ms);
  replica_.Spawn("sleeper", [&] { replica_.runtime.Sleep(10ms); });
  replica_.Run();
  EXPECT_EQ(Rows(), (std::vector<Row>{{"quick", kNoPeer, 0, 1}, {"sleeper", kNoPeer, 1, 3}}));
}

TEST_F(UnfinishedWorkTest, CallsAreCountedUntilTheyAreDecidedOrGivenUp) {
  std::vector<std::shared_ptr<RpcEvent<TextReply>>> calls;
  replica_.Go([&] {
    calls.push_back(replica_.runtime.rpc().Call(1, Echo{}));
    calls.push_back(replica_.runtime.rpc().Call(2, Echo{}));
    calls.push_back(replica_.runtime.rpc().Call(2, Echo{}, 5ms));
  });
  const Row test{"test", kNoPeer, 0, 1};
  EXPECT_EQ(Rows(), (std::vector<Row>{{"Echo", 1, 1, 1}, {"Echo", 2, 2, 2}, test}));
  replica_.Advance(5ms);
  EXPECT_EQ(Rows(), (std::vector<Row>{{"Echo", 1, 1, 1}, {"Echo", 2, 1, 2}, test}))
      << "a timeout decides";
  replica_.In([&] { replica_.runtime.rpc().Release(*calls[0]); });
  EXPECT_EQ(Rows(), (std::vector<Row>{{"Echo", 1, 0, 1}, {"Echo", 2, 1, 2}, test}));
}

// A solution may give one request several names, to hide how many calls there are.
TEST_F(UnfinishedWorkTest, CallsOfOneMethodAreOneRow) {
  replica_.Go([&] {
    replica_.runtime.rpc().Call(1, Echo{});
    replica_.runtime.rpc().Call(1, Alias{});
  });
  EXPECT_EQ(Rows(), (std::vector<Row>{{"Echo", 1, 2, 2}, {"test", kNoPeer, 0, 1}}));
}

TEST_F(UnfinishedWorkTest, AMalformedReportIsRefused) {
  EXPECT_EQ(UnfinishedWork::Read("").has_value(), false);
  EXPECT_EQ(UnfinishedWork::Read("\x93\x01\x02").has_value(), false);
}

TEST_F(UnfinishedWorkTest, TheProbeIsMadeByName) {
  EXPECT_NE(dynamic_cast<UnfinishedWork*>(MakeProbe(UnfinishedWork::kName).get()), nullptr);
}

}  // namespace
}  // namespace depfast
