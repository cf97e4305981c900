// The recovery of a replica's log: a torn write is cut off, damage is refused, and no entry is
// recovered that was not written.
#include "raft_wal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "depfast/record_log.h"

namespace depfast::raft {
namespace {

// A log as a replica writes it, and the state of the replica at the end of each record.
struct Written {
  std::string bytes;
  std::vector<std::size_t> ends = {0};
  std::vector<WalState> states = {{}};
};

Written WrittenByAReplica() {
  Written written;
  WalState now;
  const auto add = [&](const std::string& record) {
    written.bytes += record;
    written.ends.push_back(written.bytes.size());
    written.states.push_back(now);
  };
  for (std::uint64_t term = 1; term <= 4; ++term) {
    now.hard_state = {term, static_cast<PeerId>(term % 3)};
    add(EncodeHardState(now.hard_state));
    // A new leader's entries replace the last one of the old leader's.
    now.log.TruncateFrom(std::max<std::uint64_t>(now.log.last_index(), 1));
    for (std::size_t size = 0; size < 5; ++size) {
      const std::uint64_t first = now.log.last_index() + 1;
      now.log.Append({term, std::string(7 * size, static_cast<char>('a' + term))});
      now.log.Append({term, "second"});
      add(EncodeEntries(now.log, first));
    }
  }
  return written;
}

void ExpectSame(const WalState& found, const WalState& expected) {
  EXPECT_EQ(found.hard_state.term, expected.hard_state.term);
  EXPECT_EQ(found.hard_state.voted_for, expected.hard_state.voted_for);
  ASSERT_EQ(found.log.last_index(), expected.log.last_index());
  for (std::uint64_t index = 1; index <= found.log.last_index(); ++index) {
    EXPECT_EQ(found.log.At(index), expected.log.At(index)) << "index " << index;
  }
}

// The number of whole records in the first `length` bytes.
std::size_t WholeRecords(const Written& written, std::size_t length) {
  std::size_t whole = 0;
  while (whole + 1 < written.ends.size() && written.ends[whole + 1] <= length) ++whole;
  return whole;
}

TEST(RaftWal, ATornWriteIsCutOffAtEveryByte) {
  const Written written = WrittenByAReplica();
  for (std::size_t length = 0; length <= written.bytes.size(); ++length) {
    SCOPED_TRACE("torn at byte " + std::to_string(length));
    const std::size_t whole = WholeRecords(written, length);
    WalState state;
    ASSERT_EQ(state.Recover(std::string_view(written.bytes).substr(0, length)),
              written.ends[whole]);
    ExpectSame(state, written.states[whole]);
  }
}

TEST(RaftWal, DamageAtAnyByteBeforeTheLastRecordIsRefused) {
  const Written written = WrittenByAReplica();
  const std::size_t last = written.ends[written.ends.size() - 2];
  ASSERT_GT(last, written.bytes.size() / 2);
  for (std::size_t at = 0; at < last; ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      SCOPED_TRACE("byte " + std::to_string(at) + ", bits " + std::to_string(mask));
      std::string damaged = written.bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      const std::size_t whole = WholeRecords(written, at);
      WalState state;
      try {
        std::ignore = state.Recover(damaged);
        FAIL() << "it starts";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "the write-ahead log is damaged at byte " +
                                    std::to_string(written.ends[whole]) +
                                    ", and the entries after it may have been acknowledged");
      }
      ExpectSame(state, written.states[whole]);
    }
  }
}

// Such damage cannot be told from a torn write: acknowledged entries are lost here, but no entry is
// recovered that was not written.
TEST(RaftWal, DamageToTheLastRecordAddsNothing) {
  const Written written = WrittenByAReplica();
  const std::size_t last = written.ends[written.ends.size() - 2];
  for (std::size_t at = last + kRecordHeaderBytes; at < written.bytes.size(); ++at) {
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string damaged = written.bytes;
    damaged[at] = static_cast<char>(~damaged[at]);
    WalState state;
    ASSERT_EQ(state.Recover(damaged), last);
    ExpectSame(state, written.states[written.states.size() - 2]);
  }
}

TEST(RaftWal, DamageIsRefusedWhateverTheLastWriteLeft) {
  const Written written = WrittenByAReplica();
  std::string damaged = written.bytes;
  damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);
  for (std::size_t cut = 0; cut < damaged.size() / 4; ++cut) {
    WalState state;
    EXPECT_THROW(
        std::ignore = state.Recover(std::string_view(damaged).substr(0, damaged.size() - cut)),
        std::runtime_error)
        << "torn " << cut << " bytes before its end";
  }
}

TEST(RaftWal, AReaderOfAGrowingFileTakesWholeRecordsOnly) {
  const Written written = WrittenByAReplica();
  std::string damaged = written.bytes;
  damaged[written.ends[3]] = static_cast<char>(~damaged[written.ends[3]]);
  WalState state;
  EXPECT_EQ(state.Read(damaged), written.ends[3]);
  ExpectSame(state, written.states[3]);
}

// A replica compacts between half of the bound and the bound, and keeps kRetainedBytes.
TEST(RaftLogBound, TheLogGrowsByTwiceTheStateBetweenSnapshots) {
  for (std::size_t state = 1; state < std::size_t{1} << 32; state *= 2) {
    const std::size_t entries = CompactAboveBytes(state) / 2 - kRetainedBytes;
    EXPECT_GE(entries, 2 * state) << "beside " << state << " bytes of a snapshot";
  }
}

TEST(RaftLogBound, AStateOfOneMebibyteHasALongLog) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  EXPECT_EQ(CompactAboveBytes(0), 4 * kMiB);
  EXPECT_EQ(CompactAboveBytes(kMiB - 1), 8 * kMiB - 4);
  EXPECT_EQ(CompactAboveBytes(kMiB), 36 * kMiB);
  EXPECT_EQ(CompactAboveBytes(8 * kMiB), 36 * kMiB);
  EXPECT_EQ(CompactAboveBytes(100 * kMiB), 404 * kMiB);
}

}  // namespace
}  // namespace depfast::raft
