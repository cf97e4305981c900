// The puts of a load generator while the leader changes, with replicas that answer as they are
// told.
#include "frame_target.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "depfast/host/codec.h"
#include "real/frame_reader.h"
#include "real/wire.h"

namespace depfast::load {
namespace {

enum class Conduct { kLeads, kFollows, kIsSilent, kHangsUp };

const Dialect kDialect = {
    [](CallId call, const Dependency& client, std::string_view, std::string_view) {
      return EncodeFrame({FrameKind::kRequest, 1, call, client}, 0);
    },
    [] { return EncodeFrame({FrameKind::kRequest, 1, 0, {}}, 0); },
    [](std::string_view body) -> std::optional<PutOutcome> {
      std::string error;
      const auto leads = DecodeBody<bool>(body, error);
      if (!leads) return std::nullopt;
      return *leads ? PutOutcome::kCommitted : PutOutcome::kNotLeader;
    }};

// A thread that answers as `conduct` says.
class FakeReplica {
 public:
  explicit FakeReplica(Conduct conduct)
      : conduct_(conduct), socket_(real::Listen({"127.0.0.1", 0})), thread_([this] { Serve(); }) {}

  ~FakeReplica() {
    ends_ = true;
    thread_.join();
  }

  real::Endpoint endpoint() const { return {"127.0.0.1", real::PortOf(socket_.get())}; }
  void set_conduct(Conduct conduct) { conduct_ = conduct; }

 private:
  struct Peer {
    explicit Peer(int fd) : socket(fd) {}
    real::Descriptor socket;
    real::FrameReader reader{kMaxFrameBytes};
    bool is_greeted = false;
  };

  void Serve() {
    while (!ends_) {
      std::vector<pollfd> polled = {{socket_.get(), POLLIN, 0}};
      for (const Peer& peer : peers_) polled.push_back({peer.socket.get(), POLLIN, 0});
      poll(polled.data(), polled.size(), 5);
      if (const int fd = accept(socket_.get(), nullptr, nullptr); fd >= 0) peers_.emplace_back(fd);
      peers_.remove_if([this](Peer& peer) { return conduct_ == Conduct::kHangsUp || !Read(peer); });
    }
  }

  // False if the connection has ended.
  bool Read(Peer& peer) {
    const auto room = peer.reader.Room();
    const ssize_t size = recv(peer.socket.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (size == 0) return false;
    if (size > 0) peer.reader.Commit(static_cast<std::size_t>(size));
    while (const auto frame = peer.reader.Next()) Answer(peer, *frame);
    return true;
  }

  void Answer(Peer& peer, std::string_view frame) {
    if (!peer.is_greeted) {
      peer.is_greeted = true;
      return Send(peer, real::EncodeHello({0, 1}));
    }
    if (conduct_ == Conduct::kIsSilent) return;
    std::string error;
    const auto request = DecodeFrame(frame, error);
    const auto reply =
        EncodeFrame({FrameKind::kReply, 1, request->header.call, {}}, conduct_ == Conduct::kLeads);
    const auto length = real::EncodeLength(reply.size());
    Send(peer, std::string(length.data(), length.size()) + reply);
  }

  static void Send(Peer& peer, const std::string& bytes) {
    send(peer.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  std::atomic<Conduct> conduct_;
  std::atomic<bool> ends_ = false;
  const real::Descriptor socket_;
  std::list<Peer> peers_;
  std::thread thread_;
};

class FrameTargetTest : public testing::Test {
 protected:
  void Start(std::uint64_t id) { target_->Start(id, "key", "value"); }

  // Until as many puts as `count` have ended, committed; gives up after 10 s.
  std::vector<std::uint64_t> Committed(std::size_t count) {
    std::vector<PutTarget::Ended> ended;
    const auto end = Clock::now() + std::chrono::seconds(10);
    while (ended.size() < count && Clock::now() < end) target_->Await(end, ended);
    std::vector<std::uint64_t> ids;
    for (const auto& each : ended) {
      if (each.committed) ids.push_back(each.id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  void Lead(FakeReplica& leader, FakeReplica& other, Conduct conduct) {
    other.set_conduct(conduct);
    leader.set_conduct(Conduct::kLeads);
  }

  FakeReplica first_{Conduct::kLeads};
  FakeReplica second_{Conduct::kFollows};
  std::unique_ptr<PutTarget> target_ =
      ConnectWith(kDialect, {{first_.endpoint(), second_.endpoint()}, 2});
};

using Ids = std::vector<std::uint64_t>;

TEST_F(FrameTargetTest, ANewLeaderGetsThePutsThatTheOldOneHasNotAnswered) {
  Start(1);
  ASSERT_EQ(Committed(1), Ids{1});
  EXPECT_EQ(target_->leader_changes(), 0);
  first_.set_conduct(Conduct::kIsSilent);
  Start(2);
  Start(3);
  second_.set_conduct(Conduct::kLeads);
  EXPECT_EQ(Committed(2), (Ids{2, 3})) << "of a leader that is silent";
  EXPECT_EQ(target_->leader_changes(), 1);
  Lead(first_, second_, Conduct::kFollows);
  Start(4);
  EXPECT_EQ(Committed(1), Ids{4}) << "of one that leads no more";
  EXPECT_EQ(target_->leader_changes(), 2);
  Lead(second_, first_, Conduct::kHangsUp);
  Start(5);
  EXPECT_EQ(Committed(1), Ids{5}) << "of a dead one";
  EXPECT_EQ(target_->leader_changes(), 3);
}

TEST_F(FrameTargetTest, ASlowLeaderStaysIfNoOtherLeads) {
  first_.set_conduct(Conduct::kIsSilent);
  Start(1);
  std::vector<PutTarget::Ended> ended;
  const auto end = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < end) target_->Await(end, ended);
  EXPECT_TRUE(ended.empty());
  first_.set_conduct(Conduct::kLeads);
  Start(2);
  EXPECT_EQ(Committed(1), Ids{2}) << "over the same connection, on which the first put is lost";
  EXPECT_EQ(target_->leader_changes(), 0);
}

}  // namespace
}  // namespace depfast::load
