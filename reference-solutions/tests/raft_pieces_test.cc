// The tuned Raft writes a snapshot in pieces, while commands are applied. The checker of
// Raft's invariants compares every snapshot on a disk with the state after the same commands. And
// it tells the state machine the next commands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "depfast/host/service.h"
#include "raft.h"
#include "raft_world.h"
#include "tally.h"
#include "testkit/environment.h"

namespace depfast {
namespace {

// A tally of 160 KiB has at least kPieces pieces.
constexpr std::size_t kPieceBytes = std::size_t{8} << 10;
constexpr int kPieces = 20;

class SmallPieces final : public SnapshotPieces {
 public:
  explicit SmallPieces(std::string snapshot) : all_(std::move(snapshot)) {}

  std::string Next(std::size_t bytes) override { return all_.Next(std::min(bytes, kPieceBytes)); }

 private:
  EncodedPieces all_;
};

class TallyInPieces final : public StateMachine {
 public:
  void Expect(std::span<const std::string_view> commands) override {
    EXPECT_TRUE(expected_.empty()) << "commands are expected, and were not applied";
    for (const std::string_view command : commands) {
      if (!command.empty()) expected_.emplace_back(command);
    }
    most_expected_ = std::max(most_expected_, expected_.size());
  }
  std::string Apply(std::uint64_t index, std::string_view command) override {
    EXPECT_FALSE(expected_.empty()) << "a command was not expected";
    if (!expected_.empty()) {
      EXPECT_EQ(expected_.front(), command) << "another command was expected";
      expected_.pop_front();
    }
    return tally_.Apply(index, command);
  }
  std::string Snapshot() const override { return tally_.Snapshot(); }
  void Restore(std::string_view snapshot) override { tally_.Restore(snapshot); }
  std::unique_ptr<SnapshotPieces> StartSnapshot() override {
    return std::make_unique<SmallPieces>(tally_.Snapshot());
  }

  // At once, by any replica.
  static std::size_t most_expected() { return most_expected_; }

 private:
  inline static std::size_t most_expected_ = 0;

  Tally tally_;
  std::deque<std::string> expected_;
};

class PiecesService final : public Service {
 public:
  explicit PiecesService(Runtime& runtime) : runtime_(runtime), raft_(runtime, machine_) {}

  void Start() override {
    runtime_.rpc().HandleInline<Submit>(
        [this](const Submit& request, const Responder<SubmitReply>& responder) {
          raft_.Submit(request.command, responder.dependency(),
                       [responder](const SubmitReply& reply) { responder.Send(reply); });
        });
    raft_.Start();
  }

 private:
  Runtime& runtime_;
  TallyInPieces machine_;
  raft::Raft raft_;
};

}  // namespace

std::unique_ptr<Service> MakeService(Runtime& runtime) {
  return std::make_unique<PiecesService>(runtime);
}

namespace raft {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// The writes of one replica's snapshots, as its disk sees them.
class PieceWatch : private sim::Observer {
 public:
  PieceWatch(RaftWorld& world, PeerId replica) : world_(world), replica_(replica) {
    world.cluster.simulator().AddObserver(this);
  }

  bool under_way() const { return bytes_ > 0; }

  int pieces = 0;  // of the new file
  int most_pieces = 0;
  std::size_t largest_piece = 0;
  std::uint64_t most_applied = 0;  // commands, while a snapshot was written
  int completed = 0;
  Duration took{0};  // of the latest complete snapshot

 private:
  void OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) override {
    if (replica != replica_) return;
    const auto file = disk.files().find(kNewSnapshotFile);
    const std::size_t bytes = file == disk.files().end() ? 0 : file->second.data.size();
    const std::uint64_t applied = world_.checker.AppliedUpTo(replica);
    if (bytes > bytes_) {
      if (bytes_ == 0) {
        pieces = 0;
        began_ = now;
        applied_before_ = applied;
      }
      most_pieces = std::max(most_pieces, ++pieces);
      largest_piece = std::max(largest_piece, bytes - bytes_);
    } else if (bytes == 0 && bytes_ > 0) {
      ++completed;
      took = now - began_;
      most_applied = std::max(most_applied, applied - applied_before_);
    }
    bytes_ = bytes;
  }

  RaftWorld& world_;
  PeerId replica_;
  std::size_t bytes_ = 0;  // of the new file
  std::uint64_t applied_before_ = 0;
  Time began_{0};
};

// Submits commands until the replica has begun a snapshot, and has written `pieces` of it.
bool WriteUntil(RaftWorld& world, const PieceWatch& watch, int pieces) {
  const auto is_there = [&] { return watch.under_way() && watch.pieces >= pieces; };
  for (int i = 0; i < 400 && !is_there(); ++i) {
    world.SubmitOneLarge();
    world.cluster.RunUntil(is_there, 10ms);
  }
  return is_there();
}

std::optional<Snapshot> SnapshotOf(RaftWorld& world, PeerId replica) {
  const auto& files = world.cluster.simulator().disk(replica).files();
  const auto file = files.find(kSnapshotFile);
  if (file == files.end()) return std::nullopt;
  return DecodeSnapshot({file->second.data.data(), file->second.durable_bytes});
}

class RaftPieces : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(leader_, kNobody); }

  void StartAgain() {
    world_.cluster.Crash(victim_);
    world_.cluster.RunFor(10ms);
    world_.cluster.Restart(victim_);
  }

  RaftWorld world_{{.replicas = 3, .seed = 901}};
  const PeerId leader_ = world_.WaitForLeader();
  const PeerId victim_ = world_.Others(leader_)[0];
  PieceWatch watch_{world_, victim_};
};

TEST_F(RaftPieces, CommandsAreAppliedWhileASnapshotIsWritten) {
  PieceWatch watch(world_, leader_);
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(world_.CommitBytes(kMiB / 2));
    ASSERT_TRUE(world_.AllInvariantsHold());
  }
  EXPECT_GE(watch.completed, 2);
  EXPECT_GE(watch.most_pieces, kPieces);
  EXPECT_LE(watch.largest_piece, kPieceBytes + 100) << "a piece, and what frames it";
  EXPECT_GE(watch.most_applied, 5u) << "the replica stands still while it writes a snapshot";
}

TEST_F(RaftPieces, ASnapshotTakesHalfOfTheDisksTimeAtMost) {
  ASSERT_TRUE(WriteUntil(world_, watch_, 1));
  constexpr std::int64_t kBytesPerSecond = 200'000;
  world_.cluster.Begin(faults::DiskSlow({victim_}, kBytesPerSecond));
  ASSERT_TRUE(world_.cluster.RunUntil([&] { return watch_.completed > 0; }, 10s));
  const double written_for = static_cast<double>((kPieces - 2) * kPieceBytes) / kBytesPerSecond;
  EXPECT_GE(std::chrono::duration<double>(watch_.took).count(), 2 * written_for);
  world_.cluster.Heal();
  EXPECT_TRUE(world_.WaitForAllApplied());
  EXPECT_TRUE(world_.AllInvariantsHold());
}

TEST_F(RaftPieces, ACrashBetweenPiecesLeavesTheOldSnapshot) {
  for (int pieces = 1; pieces < kPieces; pieces += 3) {
    SCOPED_TRACE("a crash after " + std::to_string(pieces) + " pieces");
    ASSERT_TRUE(WriteUntil(world_, watch_, pieces));
    const auto old = SnapshotOf(world_, victim_);
    StartAgain();
    const auto now = SnapshotOf(world_, victim_);
    EXPECT_EQ(now ? now->last_index : 0, old ? old->last_index : 0);
    ASSERT_TRUE(world_.WaitForAllApplied()) << "the replica stays behind";
    ASSERT_TRUE(world_.AllInvariantsHold());
    // The next compaction begins its files anew.
    const int completed = watch_.completed;
    for (int i = 0; i < 20 && watch_.completed == completed; ++i) {
      ASSERT_TRUE(world_.CommitBytes(kMiB / 2));
    }
    EXPECT_GT(watch_.completed, completed);
    ASSERT_TRUE(world_.AllInvariantsHold());
  }
}

TEST_F(RaftPieces, AFailedWriteBetweenPiecesLosesNothing) {
  for (const bool is_short : {true, false}) {
    for (const char* const file : {kNewSnapshotFile, kNewWalFile}) {
      SCOPED_TRACE(std::string(is_short ? "a short write of " : "a sync of ") + file);
      const PeerId leader = world_.WaitForLeader(4s);
      ASSERT_NE(leader, kNobody);
      const PeerId victim = world_.Others(leader)[0];
      PieceWatch watch(world_, victim);
      ASSERT_TRUE(WriteUntil(world_, watch, kPieces / 2));
      auto& simulator = world_.cluster.simulator();
      simulator.FailNext(victim, {IoRequest::Kind::kAppend, file, is_short, EIO});
      ASSERT_TRUE(world_.Commit(20, 6s)) << "two of three replicas make no progress";
      ASSERT_TRUE(world_.cluster.RunUntil(
          [&] { return simulator.disk(victim).has_failed() || !simulator.IsUp(victim); }, 3s));
      simulator.Repair(victim);
      world_.cluster.Heal();
      ASSERT_TRUE(world_.Commit(10, 6s));
      ASSERT_TRUE(world_.WaitForAllApplied(4s));
      ASSERT_TRUE(world_.AllInvariantsHold());
    }
  }
}

// The follower's own snapshot is overtaken by its leader's.
TEST_F(RaftPieces, ALeadersSnapshotEndsTheFollowersOwn) {
  ASSERT_TRUE(WriteUntil(world_, watch_, 2));
  world_.cluster.Begin(faults::DiskSlow({victim_}, 5'000));
  const faults::Fault partition = faults::PartitionFault({victim_});
  world_.cluster.Begin(partition);
  ASSERT_TRUE(world_.CommitBytes(8 * kMiB));
  ASSERT_TRUE(watch_.under_way());
  ASSERT_EQ(watch_.completed, 0);
  world_.cluster.End(partition);
  ASSERT_TRUE(
      world_.cluster.RunUntil([&] { return world_.checker.claims(victim_).restored > 0; }, 9s))
      << "it is not restored";
  world_.cluster.Heal();
  ASSERT_TRUE(world_.WaitForAllApplied(4s));
  ASSERT_TRUE(world_.CommitBytes(10 * kMiB));
  ASSERT_TRUE(world_.WaitForAllApplied(4s));
  EXPECT_GE(watch_.completed, 2) << "it takes no snapshot any more";
  // The files on its disk are enough for a start.
  StartAgain();
  ASSERT_TRUE(world_.Commit(10));
  ASSERT_TRUE(world_.WaitForAllApplied());
  EXPECT_TRUE(world_.AllInvariantsHold());
}

// Apply compares each command with what was expected.
TEST_F(RaftPieces, CommandsAreExpectedBeforeTheyAreApplied) {
  ASSERT_TRUE(world_.Commit(200));
  EXPECT_TRUE(world_.WaitForAllApplied());
  EXPECT_EQ(TallyInPieces::most_expected(), 16U);
}

}  // namespace
}  // namespace raft
}  // namespace depfast
