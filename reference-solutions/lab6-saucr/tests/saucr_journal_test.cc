// The journal of lab 6: its records, their order on the disk, and what is durable.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "disk_journal.h"
#include "test_support.h"

namespace depfast::saucr {
namespace {

RaftLog LogOf(std::uint64_t term, int entries) {
  RaftLog log;
  for (int i = 0; i < entries; ++i) log.Append({term, "command"});
  return log;
}

// ---- the file ----

const LleMap kMap{{1, 2}, {1, 2}, {0, 0}};

TEST(SaucrWal, AFileSaysWhatWasWritten) {
  WalState state;
  const std::string bytes = EncodeWal({3, 1}, LogOf(1, 2), {{1, 1}, {1, 2}}, kMap, {0, 4, 0});
  EXPECT_EQ(state.Recover(bytes), bytes.size());
  EXPECT_EQ(state.hard_state.term, 3U);
  EXPECT_EQ(state.log.last_index(), 2U);
  EXPECT_EQ(state.markers, (Markers{{1, 1}, {1, 2}}));
  EXPECT_EQ(state.map, kMap);
  EXPECT_EQ(state.lives, (Lives{0, 4, 0}));
}

TEST(SaucrWal, ATornFlushHasNoMarkerWithoutItsEntries) {
  const RaftLog log = LogOf(1, 2);
  const std::string flush = raft::EncodeEntries(log, 1) + EncodeLatestOnDisk({1, 2}, kMap);
  for (std::size_t length = 0; length < flush.size(); ++length) {
    WalState state;
    EXPECT_LE(state.Recover(flush.substr(0, length)), length);
    EXPECT_EQ(state.markers, Markers()) << "of " << length << " bytes";
  }
}

TEST(SaucrWal, HolesInUnsyncedEntriesAreCutOff) {
  const RaftLog log = LogOf(1, 2);
  const std::string good = EncodeFastSwitch({1, 1});
  std::string hole = raft::EncodeEntries(log, 1);
  hole[hole.size() / 2] ^= 1;
  WalState state;
  EXPECT_EQ(state.Recover(good + hole + raft::EncodeEntries(log, 2)), good.size());
  EXPECT_THROW(std::ignore = WalState().Recover(hole + good), std::runtime_error);
}

// ---- the journal ----

class SaucrJournal : public ::testing::Test {
 protected:
  // Runs `body` in a step of its own, at whose end its records are written.
  void Step(const std::function<void()>& body) {
    replica_.In(body);
    replica_.Run();
  }
  // The oldest operation that is not done.
  IoRequest Take() {
    const IoRequest request = replica_.host.submitted.front();
    replica_.host.submitted.pop_front();
    return request;
  }
  void Complete(const IoRequest& request) {
    replica_.runtime.DeliverIo(IoCompletion{request.id, 0, nullptr});
    replica_.Run();
  }

  testing::Replica replica_;
  std::unique_ptr<DiskJournal> journal_ = [this] {
    std::unique_ptr<DiskJournal> journal;
    replica_.In([&] { journal = std::make_unique<DiskJournal>(replica_.runtime); });
    return journal;
  }();
};

TEST_F(SaucrJournal, OneSyncMakesAStepDurable) {
  std::vector<Journal::EventPtr> durable;
  Step([&] {
    journal_->WriteEntries(LogOf(1, 2), 1);
    durable.push_back(journal_->WriteLatestOnDisk({1, 2}, kMap));
    durable.push_back(journal_->Sync());
  });
  const IoRequest write = Take();
  EXPECT_TRUE(write.sync);
  EXPECT_TRUE(replica_.host.submitted.empty());
  EXPECT_EQ(*write.data, raft::EncodeEntries(LogOf(1, 2), 1) + EncodeLatestOnDisk({1, 2}, kMap));
  EXPECT_EQ(journal_->durable_index(), 0U);
  Complete(write);
  EXPECT_EQ(journal_->durable_index(), 2U);
  ASSERT_FALSE(durable.empty());
  for (const auto& each : durable) EXPECT_TRUE(each->IsReady());
}

TEST_F(SaucrJournal, EntriesWaitForASync) {
  Step([&] { journal_->WriteEntries(LogOf(1, 2), 1); });
  const IoRequest write = Take();
  EXPECT_FALSE(write.sync);
  Complete(write);
  EXPECT_EQ(journal_->durable_index(), 0U);
  EXPECT_TRUE(journal_->has_unsynced());
  Step([&] { journal_->Sync(); });
  const IoRequest sync = Take();
  EXPECT_TRUE(sync.sync);
  Complete(sync);
  EXPECT_EQ(journal_->durable_index(), 2U);
  EXPECT_FALSE(journal_->has_unsynced());
}

TEST_F(SaucrJournal, ReplacedEntriesAreNotDurable) {
  Step([&] {
    journal_->WriteEntries(LogOf(1, 3), 1);
    journal_->Sync();
  });
  Step([&] { journal_->WriteEntries(LogOf(2, 3), 2); });
  Complete(Take());
  EXPECT_EQ(journal_->durable_index(), 1U) << "the disk has the first of these entries alone";
}

TEST_F(SaucrJournal, ANewFileKeepsMarkersMapAndLives) {
  Step([&] {
    journal_->WriteFastSwitch({2, 7});
    journal_->WriteLatestOnDisk({1, 2}, kMap);
    journal_->WriteLives({0, 1, 0});
    journal_->Replace({}, LogOf(1, 3));
  });
  WalState state;
  for (const IoRequest& each : replica_.host.submitted) {
    if (each.file == kNewWalFile && each.data) std::ignore = state.Recover(*each.data);
  }
  EXPECT_EQ(state.markers, (Markers{{2, 7}, {1, 2}}));
  EXPECT_EQ(state.map, kMap);
  EXPECT_EQ(state.lives, (Lives{0, 1, 0}));
  EXPECT_EQ(state.log.last_index(), 3U);
}

}  // namespace
}  // namespace depfast::saucr
