// Storage over a Host, and the record format that survives a torn tail.
#include "depfast/storage.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "depfast/record_log.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Log;
using testing::Replica;
using Kind = IoRequest::Kind;

class StorageTest : public ::testing::Test {
 protected:
  using Start = std::function<std::shared_ptr<DiskEvent>(Storage&)>;

  // Starts one operation; its request is then the last one submitted.
  std::shared_ptr<DiskEvent> Begin(const Start& start) {
    std::shared_ptr<DiskEvent> event;
    replica_.In([&] { event = start(replica_.runtime.storage()); });
    return event;
  }
  const IoRequest& Request() { return replica_.host.submitted.back(); }
  void Complete(std::uint64_t id, int error = 0, Bytes data = nullptr) {
    replica_.runtime.DeliverIo({id, error, std::move(data)});
    replica_.Run();
  }

  Replica replica_;
};

TEST_F(StorageTest, RequestsSayWhatWasAsked) {
  Begin([](Storage& s) { return s.Append("log", "abc", Storage::Sync::kYes); });
  EXPECT_EQ(Request().kind, Kind::kAppend);
  EXPECT_EQ(Request().file, "log");
  EXPECT_EQ(*Request().data, "abc");
  EXPECT_TRUE(Request().sync);

  Begin([](Storage& s) { return s.Append("log", "d", Storage::Sync::kNo); });
  EXPECT_FALSE(Request().sync) << "nobody asked for a sync";

  Begin([](Storage& s) { return s.Read("log"); });
  EXPECT_EQ(Request().kind, Kind::kRead);
  EXPECT_EQ(Request().offset, 0U);
  EXPECT_EQ(Request().length, IoRequest::kToTheEnd);

  Begin([](Storage& s) { return s.Read("log", 3, 17); });
  EXPECT_EQ(Request().offset, 3U);
  EXPECT_EQ(Request().length, 17U);

  Begin([](Storage& s) { return s.Truncate("log", 17); });
  EXPECT_EQ(Request().kind, Kind::kTruncate);
  EXPECT_EQ(Request().length, 17U);
  EXPECT_TRUE(Request().sync);

  Begin([](Storage& s) { return s.Rename("new", "log"); });
  EXPECT_EQ(Request().kind, Kind::kRename);
  EXPECT_EQ(Request().file, "new");
  EXPECT_EQ(Request().to, "log");
  EXPECT_TRUE(Request().sync);

  Begin([](Storage& s) { return s.Remove("log"); });
  EXPECT_EQ(Request().kind, Kind::kRemove);
  EXPECT_TRUE(Request().sync);
}

TEST_F(StorageTest, RequestsLeaveInTheOrderOfTheCallsWithIdsOfTheirOwn) {
  for (const char* data : {"1", "2", "3"}) {
    Begin([&](Storage& s) { return s.Append("log", data, Storage::Sync::kNo); });
  }
  const auto& submitted = replica_.host.submitted;
  ASSERT_EQ(submitted.size(), 3U);
  EXPECT_EQ(*submitted[0].data + *submitted[1].data + *submitted[2].data, "123");
  EXPECT_LT(submitted[0].id, submitted[1].id);
  EXPECT_LT(submitted[1].id, submitted[2].id);
}

TEST_F(StorageTest, ACompletionReachesItsOwnEventOnly) {
  const auto first = Begin([](Storage& s) { return s.Append("a", "x", Storage::Sync::kYes); });
  const auto first_id = Request().id;
  const auto second = Begin([](Storage& s) { return s.Read("b"); });
  const auto second_id = Request().id;
  replica_.Go([&] { replica_.log.push_back(ToString(second->Wait())); });
  Complete(first_id);
  EXPECT_TRUE(first->IsReady());
  EXPECT_FALSE(second->IsDecided());
  EXPECT_TRUE(replica_.log.empty());
  Complete(second_id, 0, MakeBytes("contents"));
  EXPECT_EQ(replica_.log, Log{"ready"});
  EXPECT_EQ(second->data(), "contents");
  EXPECT_EQ(replica_.runtime.storage().in_flight(), 0U);
}

TEST_F(StorageTest, AnErrorIsNeverReady) {
  const auto event = Begin([](Storage& s) { return s.Append("a", "x", Storage::Sync::kYes); });
  replica_.Go([&] { replica_.log.push_back(ToString(event->Wait())); });
  Complete(Request().id, ENOSPC);
  EXPECT_EQ(replica_.log, Log{"failed"});
  EXPECT_FALSE(event->IsReady());
  EXPECT_TRUE(event->IsFailed());
  EXPECT_EQ(event->error(), ENOSPC);
}

TEST_F(StorageTest, UnknownCompletionsAreIgnored) {
  const auto event = Begin([](Storage& s) { return s.Append("a", "x", Storage::Sync::kYes); });
  const auto id = Request().id;
  Complete(id + 1, EIO);
  Complete(0);
  EXPECT_FALSE(event->IsDecided());
  EXPECT_EQ(replica_.runtime.storage().in_flight(), 1U);
  Complete(id);
  Complete(id, EIO);  // a second completion of the same operation changes nothing
  EXPECT_TRUE(event->IsReady());
  EXPECT_EQ(event->error(), 0);
}

TEST_F(StorageTest, AnOperationGoesOnWithoutItsEvent) {
  Begin([](Storage& s) { return s.Append("a", "x", Storage::Sync::kNo); });
  EXPECT_NO_THROW(Complete(Request().id));
}

// --- records ---

std::vector<std::string> ReadAll(std::string_view bytes, std::size_t* good = nullptr) {
  std::vector<std::string> records;
  const auto end = ReadRecords(bytes, [&](std::string_view r) { records.emplace_back(r); });
  if (good != nullptr) *good = end;
  return records;
}

// Records of many sizes, the empty one and one with zeros and newlines included.
std::vector<std::string> SomeRecords() {
  return {"first", "", std::string(3, '\0'), "a longer one\nwith two lines", std::string(300, 'x')};
}

std::string Encode(const std::vector<std::string>& records) {
  std::string bytes;
  for (const std::string& record : records) AppendRecord(bytes, [&] { bytes += record; });
  return bytes;
}

TEST(RecordLog, RoundTrip) {
  const auto records = SomeRecords();
  std::size_t good = 0;
  const auto bytes = Encode(records);
  EXPECT_EQ(ReadAll(bytes, &good), records);
  EXPECT_EQ(good, bytes.size());
  EXPECT_TRUE(ReadAll("", &good).empty());
  EXPECT_EQ(good, 0U);
}

TEST(RecordLog, TheLayoutOnDiskIsFixed) {
  // Length and two halves of XXH3-64, little endian: a file written by one build is read by
  // another.
  EXPECT_EQ(Encode({"abc"}), std::string("\x03\x00\x00\x00"
                                         "\x50\x39\x2f\x89"
                                         "\x83\x97\x0e\xd9"
                                         "abc",
                                         15));
}

TEST(RecordLog, ATornTailIsDroppedAtEveryByte) {
  const auto records = SomeRecords();
  const auto bytes = Encode(records);
  std::vector<std::size_t> ends;  // of each record
  for (std::size_t count = 0; count <= records.size(); ++count) {
    ends.push_back(
        Encode({records.begin(), records.begin() + static_cast<std::ptrdiff_t>(count)}).size());
  }
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    std::size_t whole = 0;
    while (whole < records.size() && ends[whole + 1] <= length) ++whole;
    std::size_t good = 0;
    const auto read = ReadAll(std::string_view(bytes).substr(0, length), &good);
    ASSERT_EQ(read.size(), whole) << "torn at byte " << length;
    ASSERT_EQ(good, ends[whole]) << "torn at byte " << length;
    ASSERT_TRUE(MayBeTorn(std::string_view(bytes).substr(good, length - good)))
        << "torn at byte " << length;
  }
}

std::string Flipped(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  return bytes;
}

TEST(RecordLog, EveryFlippedBitIsDetected) {
  const auto records = SomeRecords();
  const auto bytes = Encode(records);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::size_t good = 0;
    const auto read = ReadAll(Flipped(bytes, bit), &good);
    ASSERT_LE(good, bit / 8) << "bit " << bit << ": the record with the flipped bit was accepted";
    for (std::size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], records[i]);
  }
}

// MayBeTorn for the bytes after the records that ReadRecords finds in `bytes`.
bool TailMayBeTorn(const std::string& bytes) {
  std::size_t good = 0;
  ReadAll(bytes, &good);
  return MayBeTorn(std::string_view(bytes).substr(good));
}

TEST(RecordLog, AFlippedBitBeforeAWholeRecordIsNoTornTail) {
  const auto bytes = Encode(SomeRecords());
  const auto all = bytes + Encode({"the last one"});
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    ASSERT_FALSE(TailMayBeTorn(Flipped(all, bit))) << "bit " << bit;
  }
}

TEST(RecordLog, DamageIsSeenBeforeATornTail) {
  const auto bytes = Encode(SomeRecords());
  for (std::size_t torn = 1; torn < kRecordHeaderBytes + 5; ++torn) {
    const auto tail = Encode({"12345"}).substr(0, torn);
    ASSERT_FALSE(TailMayBeTorn(Flipped(bytes, 0) + tail)) << torn << " bytes behind";
    ASSERT_FALSE(TailMayBeTorn(Flipped(bytes, bytes.size() * 8 - 1) + tail))
        << torn << " bytes behind";
  }
}

TEST(RecordLog, OfTheLastRecordOnlyTheHeaderCanBeSeenToBeDamaged) {
  const auto bytes = Encode({"first", "last"});
  const std::size_t header = Encode({"first"}).size();
  for (std::size_t bit = header * 8; bit < bytes.size() * 8; ++bit) {
    const bool in_header = bit / 8 < header + kRecordHeaderBytes;
    ASSERT_EQ(TailMayBeTorn(Flipped(bytes, bit)), !in_header) << "bit " << bit;
  }
}

TEST(RecordLog, ARecordInsideATornOneIsNoRecord) {
  // A client may store bytes that look like a record.
  const auto torn = Encode({Encode({"bait"}) + "rest"});
  for (std::size_t length = 0; length < torn.size(); ++length) {
    ASSERT_TRUE(TailMayBeTorn(Encode({"one"}) + torn.substr(0, length))) << length;
  }
}

TEST(RecordLog, ATailOfZerosIsNotARecord) {
  // A file system may leave this after a crash between its writes of the size and of the contents.
  const auto bytes = Encode({"one"});
  std::size_t good = 0;
  EXPECT_EQ(ReadAll(bytes + std::string(4096, '\0'), &good), std::vector<std::string>{"one"});
  EXPECT_EQ(good, bytes.size());
  EXPECT_TRUE(MayBeTorn(std::string(4096, '\0')));
  EXPECT_FALSE(MayBeTorn(std::string(4096, '\0') + bytes));
}

TEST(RecordLog, AForgedLengthReadsNothing) {
  EXPECT_TRUE(ReadAll(std::string(100, '\xff')).empty());
  EXPECT_FALSE(MayBeTorn(std::string(100, '\xff')));
}

}  // namespace
}  // namespace depfast
