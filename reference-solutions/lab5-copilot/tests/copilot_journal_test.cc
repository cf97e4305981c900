// The journal of lab 5: its records, and the bytes that it writes.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "journal.h"
#include "test_support.h"

namespace depfast::copilot {
namespace {

constexpr std::size_t kLarge = 10'000;

Commands LargeCommand(char letter) { return {{7, std::string(kLarge, letter)}}; }

class CopilotJournal : public ::testing::Test {
 protected:
  void Write(Record::Kind kind, View origin, const Commands& commands) {
    log_.SetCommands(1, origin, commands);
    log_.Set(1, {.kind = kind});
    journal_.WriteEntry(Lane::kPilot, 1, log_);
  }

  // All appends to `file`, after a sync. To be called once: the host completes no operation.
  std::string BytesOf(const char* file) {
    replica_.In([&] { journal_.WhenDurable([] {}); });
    replica_.Run();
    std::string bytes;
    for (const IoRequest& request : replica_.host.submitted) {
      if (request.kind == IoRequest::Kind::kAppend && request.file == file) bytes += *request.data;
    }
    return bytes;
  }

  static void ExpectEntry(const std::string& bytes, Record::Kind kind, const Commands& commands) {
    Recovered recovered;
    ReadJournal(bytes, [&](JournalRecord record) { recovered.Take(std::move(record)); });
    LaneLog& log = recovered.lanes[0];
    ASSERT_EQ(log.last(), 1U);
    EXPECT_EQ(log.RecordOf(1).kind, kind);
    EXPECT_EQ(log.BodyOf(1).commands, commands);
  }

  testing::Replica replica_;
  Journal journal_{replica_.runtime, Durability::kOnDisk};
  LaneLog log_;
};

// A taker sends the commands with each Accept, and may need many.
TEST_F(CopilotJournal, CommandsAreWrittenOnce) {
  Write(Record::Kind::kFastAccepted, 0, LargeCommand('a'));
  for (int i = 0; i < 20; ++i) Write(Record::Kind::kAccepted, 0, LargeCommand('a'));
  const std::string bytes = BytesOf(kJournalFile);
  EXPECT_LT(bytes.size(), 2 * kLarge);
  ExpectEntry(bytes, Record::Kind::kAccepted, LargeCommand('a'));
}

TEST_F(CopilotJournal, OtherCommandsAreWritten) {
  Write(Record::Kind::kAccepted, 0, LargeCommand('a'));
  Write(Record::Kind::kAccepted, 0, LargeCommand('b'));
  ExpectEntry(BytesOf(kJournalFile), Record::Kind::kAccepted, LargeCommand('b'));
}

TEST_F(CopilotJournal, AViewInWhichTheSameIsProposedIsWritten) {
  Write(Record::Kind::kFastAccepted, 0, LargeCommand('a'));
  Write(Record::Kind::kFastAccepted, 3, LargeCommand('a'));
  Recovered recovered;
  ReadJournal(BytesOf(kJournalFile),
              [&](JournalRecord record) { recovered.Take(std::move(record)); });
  EXPECT_EQ(recovered.lanes[0].BodyOf(1).origin, 3U);
}

TEST_F(CopilotJournal, ANewJournalHasTheCommandsOfTheOldOne) {
  Write(Record::Kind::kAccepted, 0, LargeCommand('a'));
  std::array<LaneLog, 2> lanes;
  lanes[0] = std::move(log_);
  replica_.In([&] { journal_.Replace({}, lanes); });
  ExpectEntry(BytesOf(kNewJournalFile), Record::Kind::kAccepted, LargeCommand('a'));
}

}  // namespace
}  // namespace depfast::copilot
