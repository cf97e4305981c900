// The facts that the rounds of kills notice in a replica's log.
#include "replica_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "raft_wal.h"

namespace depfast::raft {
namespace {

constexpr std::uint64_t kEntries = 6;

class ReplicaLogTest : public testing::Test {
 protected:
  ReplicaLogTest() {
    for (std::uint64_t i = 1; i <= kEntries; ++i) {
      log_.Append({1, "command " + std::to_string(i)});
      acknowledged_.push_back({i, Abbreviated(log_.At(i).command)});
    }
  }

  void Append(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::app) << bytes;
  }

  // Compacts: a new file takes the place of the old one.
  void Replace(const std::string& bytes) const {
    const std::string next = path_ + ".new";
    std::ofstream(next, std::ios::binary) << bytes;
    ASSERT_EQ(std::rename(next.c_str(), path_.c_str()), 0);
  }

  // The entries up to `last`, as a new file without those up to `base`.
  std::string Wal(std::uint64_t base, std::uint64_t last) const {
    RaftLog log = log_;
    log.TruncateFrom(last + 1);
    return EncodeWal({1, kNobody}, log, base);
  }

  bool HasAll() {
    replica_.Read();
    return replica_.HasAll(acknowledged_);
  }

  const std::string path_ = testing::TempDir() + "replica_log_test." +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
  RaftLog log_;
  std::vector<Acknowledged> acknowledged_;
  ReplicaLog replica_{path_};
};

TEST_F(ReplicaLogTest, ANewFileMayRepeatOrLackWhatIsCompacted) {
  Replace(Wal(0, kEntries));
  ASSERT_TRUE(HasAll());
  Replace(Wal(2, 4) + EncodeEntries(log_, 5));
  EXPECT_TRUE(HasAll()) << "in several records";
  EXPECT_EQ(replica_.rewritten(), 0U);
  Replace(Wal(kEntries, kEntries));
  EXPECT_TRUE(HasAll()) << "in none";
  Replace(Wal(2, 4));
  EXPECT_FALSE(HasAll()) << "it lacks more";
  Append(EncodeEntries(log_, 5));
  EXPECT_TRUE(HasAll());
}

TEST_F(ReplicaLogTest, AnAcknowledgedEntryThatIsWrittenAgainIsNoticed) {
  Replace(Wal(0, kEntries));
  ASSERT_TRUE(HasAll());
  Append(EncodeEntries(log_, 5));
  EXPECT_TRUE(HasAll());
  EXPECT_EQ(replica_.rewritten(), 5U);
}

TEST_F(ReplicaLogTest, AnEntryThatAPowerCutTookIsMissedAndMayBeWrittenAgain) {
  RaftLog synced = log_;
  synced.TruncateFrom(5);
  const std::string kept = Wal(0, 4) + EncodeEntries(synced, 3);  // it has replaced an entry before
  Replace(kept + EncodeEntries(log_, 5));
  ASSERT_TRUE(HasAll());
  std::filesystem::resize_file(path_, kept.size());
  EXPECT_FALSE(HasAll());
  Append(EncodeEntries(log_, 5));
  EXPECT_TRUE(HasAll());
  EXPECT_EQ(replica_.rewritten(), 0U);
}

}  // namespace
}  // namespace depfast::raft
