// The frame decoder meets anything: a deterministic fuzz test, and the encodings one by one.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depfast/host/codec.h"
#include "depfast/host/host.h"
#include "depfast/host/random.h"
#include "depfast/rpc.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::kSanitized;
using testing::Replica;

// A body with everything in it: numbers, text, nesting, a map, something optional.
struct Entry {
  std::uint64_t term = 0;
  std::string command;
  DEPFAST_FIELDS(term, command)
};
struct AppendReply {
  std::uint64_t term = 0;
  bool success = false;
  DEPFAST_FIELDS(term, success)
};
struct ShortReply {
  std::uint64_t term = 4;
  DEPFAST_FIELDS(term)
};
struct LongReply {
  std::uint64_t term = 4;
  bool success = true;
  int extra = 0;
  DEPFAST_FIELDS(term, success, extra)
};
struct AppendRequest {
  using Reply = AppendReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Append";
  std::uint64_t term = 0;
  std::int64_t offset = 0;
  std::vector<Entry> entries;
  std::map<std::string, std::vector<int>> extra;
  DEPFAST_FIELDS(term, offset, entries, extra)
};

AppendRequest SomeBody() {
  return {3, -5, {{1, "a"}, {2, std::string(40, 'b')}}, {{"k", {1, 2, 300, -70000}}, {"", {}}}};
}

FrameHeader SomeHeader() {
  return {FrameKind::kRequest, AppendRequest::kMethod, 77, Dependency::Client(5)};
}

bool SameHeader(const FrameHeader& a, const FrameHeader& b) {
  return a.kind == b.kind && a.method == b.method && a.call == b.call &&
         a.dependency == b.dependency;
}

std::string Reencode(const DecodedFrame& frame) {
  std::string bytes;
  frame_internal::EncodeHeader(frame.header, bytes);
  return bytes.append(frame.body);
}

TEST(Frame, RoundTrip) {
  const std::string bytes = EncodeFrame(SomeHeader(), SomeBody());
  std::string error;
  const auto frame = DecodeFrame(bytes, error);
  ASSERT_TRUE(frame) << error;
  EXPECT_TRUE(SameHeader(frame->header, SomeHeader()));
  const auto body = DecodeBody<AppendRequest>(frame->body, error);
  ASSERT_TRUE(body) << error;
  EXPECT_EQ(body->offset, -5);
  EXPECT_EQ(body->entries.at(1).command, std::string(40, 'b'));
  EXPECT_EQ(body->extra.at("k"), (std::vector<int>{1, 2, 300, -70000}));
  EXPECT_EQ(error, "");
}

TEST(Frame, EveryIntegerEncodingOfTheHeaderIsReadAsWritten) {
  const std::uint64_t interesting[] = {0,      1,       0x7f, 0x80,       0xff,       0x100,
                                       0xffff, 0x10000, ~0U,  1ULL << 32, 1ULL << 63, ~0ULL};
  for (const std::uint64_t call : interesting) {
    for (const std::uint64_t id : interesting) {
      FrameHeader header = SomeHeader();
      header.call = call;
      header.method = static_cast<MethodId>(id);
      header.dependency.id = id;
      std::string error;
      const std::string bytes = EncodeFrame(header, 1);
      const auto frame = DecodeFrame(bytes, error);
      ASSERT_TRUE(frame) << error;
      ASSERT_TRUE(SameHeader(frame->header, header)) << call << " " << id;
    }
  }
}

// A header whose fields are 1, but for this one, as the bytes given; then a body of 1.
std::string HeaderWith(std::size_t field, const std::string& value) {
  std::string bytes = "\x96";
  for (std::size_t i = 0; i < 6; ++i) bytes += i == field ? value : "\x01";
  return bytes + "\x01";
}
const std::string kZero(1, '\0');

TEST(Frame, LongerEncodingsThanNeededAreRead) {
  for (const std::string& one : {std::string("\xcc\x01"), std::string("\xcd\x00\x01", 3),
                                 std::string("\xce\x00\x00\x00\x01", 5),
                                 std::string("\xcf\x00\x00\x00\x00\x00\x00\x00\x01", 9)}) {
    for (std::size_t field = 0; field < 6; ++field) {
      std::string error;
      const std::string bytes = HeaderWith(field, one);
      const auto frame = DecodeFrame(bytes, error);
      ASSERT_TRUE(frame) << error;
      EXPECT_EQ(frame->header.kind, FrameKind::kReply);
      EXPECT_EQ(frame->header.call, 1U);
      EXPECT_EQ(frame->body, "\x01");
    }
  }
}

TEST(Frame, AFieldThatIsNoUnsignedIntegerIsRefused) {
  for (int first = 0x80; first <= 0xff; ++first) {
    if (first >= 0xcc && first <= 0xcf) continue;
    for (std::size_t field = 0; field < 6; ++field) {
      const std::string value = std::string(1, static_cast<char>(first)) + std::string(8, '\0');
      std::string error;
      EXPECT_FALSE(DecodeFrame(HeaderWith(field, value), error)) << first << " in field " << field;
      EXPECT_NE(error, "");
    }
  }
}

TEST(Frame, FieldsOutOfRangeAreRefused) {
  const std::string two_to_32("\xcf\x00\x00\x00\x01\x00\x00\x00\x00", 9);
  const std::string truncates_to_one("\xcd\x01\x01", 3);  // 257: as a byte it would be 1
  const struct {
    std::size_t field;
    std::string value;
    const char* error;
  } cases[] = {
      {0, kZero, "unknown frame version 0"},
      {0, "\x02", "unknown frame version 2"},
      {0, two_to_32, "a header field is missing or out of range"},
      {1, "\x03", "a header field is missing or out of range"},
      {1, truncates_to_one, "a header field is missing or out of range"},
      {2, two_to_32, "a header field is missing or out of range"},
      {4, "\x03", "a header field is missing or out of range"},
      {4, truncates_to_one, "a header field is missing or out of range"},
  };
  for (const auto& c : cases) {
    std::string error;
    EXPECT_FALSE(DecodeFrame(HeaderWith(c.field, c.value), error));
    EXPECT_EQ(error, c.error) << "field " << c.field;
  }
}

TEST(Frame, OnlyAnArrayOfSixIsAHeader) {
  for (int first = 0; first <= 0xff; ++first) {
    std::string bytes = EncodeFrame(SomeHeader(), SomeBody());
    bytes[0] = static_cast<char>(first);
    std::string error;
    EXPECT_EQ(DecodeFrame(bytes, error).has_value(), first == 0x96);
  }
}

TEST(Frame, EveryTruncationIsRefusedInHeaderOrBody) {
  const std::string bytes = EncodeFrame(SomeHeader(), SomeBody());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    // A copy of its own size on the heap: the sanitizer sees a read of one byte too many.
    const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    std::string error;
    const auto frame = DecodeFrame({cut.data(), cut.size()}, error);
    const bool whole = frame && DecodeBody<AppendRequest>(frame->body, error);
    EXPECT_FALSE(whole) << "cut at " << length;
    EXPECT_NE(error, "") << "cut at " << length;
  }
}

TEST(Frame, BytesAfterTheBodyAreRefused) {
  const std::string bytes = EncodeFrame(SomeHeader(), SomeBody()) + "\x01";
  std::string error;
  const auto frame = DecodeFrame(bytes, error);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(DecodeBody<AppendRequest>(frame->body, error));
  EXPECT_EQ(error, "bytes after the body");
}

TEST(Frame, AMissingOrAnExtraFieldIsRefused) {
  // MessagePack itself would fill in missing elements.
  const auto refused = [](const std::string& bytes) {
    std::string error;
    const auto frame = DecodeFrame(bytes, error);
    return !DecodeBody<AppendReply>(frame->body, error) && !error.empty();
  };
  EXPECT_TRUE(refused(EncodeFrame(SomeHeader(), ShortReply{})));
  EXPECT_TRUE(refused(EncodeFrame(SomeHeader(), LongReply{})));
  EXPECT_FALSE(refused(EncodeFrame(SomeHeader(), AppendReply{4, true})));
}

TEST(Frame, TheSizeLimitHolds) {
  std::string bytes = EncodeFrame(SomeHeader(), 1);
  bytes.resize(kMaxFrameBytes);
  std::string error;
  EXPECT_TRUE(DecodeFrame(bytes, error)) << error;
  bytes.push_back('\0');
  EXPECT_FALSE(DecodeFrame(bytes, error));
  EXPECT_EQ(error, "the frame is larger than the limit");
}

TEST(Frame, ForgedLengthsAreRefusedWithoutAllocatingThem) {
  // array, map, str, bin, ext with 32-bit lengths, each claiming 4 billion elements.
  for (const int kind : {0xdd, 0xdf, 0xdb, 0xc6, 0xc9}) {
    const std::string body =
        std::string(1, static_cast<char>(kind)) + "\xff\xff\xff\xff" + "\x01\x01";
    std::string error;
    EXPECT_FALSE(frame_internal::Unpacked(body, error)) << kind;
    EXPECT_NE(error.find("the body is not MessagePack"), std::string::npos) << error;
  }
}

TEST(Frame, ForgedLengthsDoNotMultiplyByNesting) {
  // Ten arrays, one in the other. Each claims an element for each byte of the body. One claim alone
  // could be true; all of them would take 24 bytes for each byte, ten times over.
  const std::size_t size = std::size_t{1} << 20;
  std::string body;
  for (int i = 0; i < 10; ++i) body += std::string("\xdd\x00\x0f\xff\x00", 5);
  body.resize(size, '\x01');
  std::string error;
  EXPECT_FALSE(frame_internal::Unpacked(body, error));
  EXPECT_EQ(error, "the body is not MessagePack: more elements claimed than there are bytes");
}

TEST(Frame, ALargeHonestBodyIsRead) {
  AppendRequest request = SomeBody();
  request.entries.assign(100'000, Entry{1, ""});  // little more than elements
  const std::string bytes = EncodeFrame(SomeHeader(), request);
  std::string error;
  const auto frame = DecodeFrame(bytes, error);
  ASSERT_TRUE(frame) << error;
  const auto body = DecodeBody<AppendRequest>(frame->body, error);
  ASSERT_TRUE(body) << error;
  EXPECT_EQ(body->entries.size(), 100'000U);
  const std::string all_elements = EncodeFrame(SomeHeader(), std::vector<int>(50'000, 1));
  EXPECT_TRUE(DecodeBody<std::vector<int>>(DecodeFrame(all_elements, error)->body, error)) << error;
}

TEST(Frame, DeepNestingIsRefusedNotFollowed) {
  for (const char opening : {'\x91', '\x81'}) {  // arrays of one, maps of one
    for (const std::size_t depth : {std::size_t{17}, std::size_t{100}, std::size_t{1'000'000}}) {
      std::string error;
      EXPECT_FALSE(frame_internal::Unpacked(std::string(depth, opening), error));
      EXPECT_NE(error.find("the body is not MessagePack"), std::string::npos) << error;
    }
  }
  std::string error;
  EXPECT_TRUE(frame_internal::Unpacked(std::string(10, '\x91') + "\x01", error)) << error;
}

// MessagePack's own parser, as the judge of ours: the value packed again; nothing if there is none.
std::optional<std::string> ByMessagePack(const std::string& bytes) {
  const msgpack::unpack_limit limit(bytes.size(), bytes.size(), bytes.size(), bytes.size(),
                                    bytes.size(), 16);
  try {
    std::size_t used = 0;
    const auto handle = msgpack::unpack(bytes.data(), bytes.size(), used, nullptr, nullptr, limit);
    if (used != bytes.size()) return std::nullopt;
    return EncodeFrame(FrameHeader{}, handle.get());
  } catch (const msgpack::unpack_error&) {
    return std::nullopt;
  }
}

std::optional<std::string> ByUs(const std::string& bytes) {
  // A copy of its own size on the heap: the sanitizer sees a read of one byte too many.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  std::string error;
  const frame_internal::Unpacked value({copy.data(), copy.size()}, error);
  EXPECT_EQ(static_cast<bool>(value), error.empty());
  if (!value) return std::nullopt;
  return EncodeFrame(FrameHeader{}, value.get());
}

TEST(Unpacked, EachTypeIsReadAsMessagePackReadsItAtEachLength) {
  for (int type = 0; type <= 0xff; ++type) {
    for (const char filling : {'\0', '\1', '\2', '\x7f', '\x81', '\xff'}) {
      std::string bytes(1, static_cast<char>(type));
      for (int length = 1; length < 50; ++length, bytes += filling) {
        ASSERT_EQ(ByUs(bytes), ByMessagePack(bytes)) << type << ", " << length << " bytes";
      }
    }
  }
}

TEST(Unpacked, AnyBytesAreReadAsMessagePackReadsThem) {
  RandomStream random(7);
  int good = 0;
  for (int i = 0; i < (kSanitized ? 20'000 : 200'000); ++i) {
    std::string bytes(random.Below(40), '\0');
    for (char& byte : bytes) {
      // Small numbers, and the types with elements or sizes.
      byte = static_cast<char>(random.Below(2) == 0 ? random.Below(4) : 0x80 + random.Below(128));
    }
    const auto expected = ByMessagePack(bytes);
    ASSERT_EQ(ByUs(bytes), expected) << i;
    if (expected) ++good;
  }
  EXPECT_GT(good, 100);
}

TEST(Unpacked, ElementsBeyondTheFirstFewAreReadAsMessagePackReadsThem) {
  std::vector<std::vector<int>> rows;
  for (int row = 0; row < 40; ++row) rows.emplace_back(static_cast<std::size_t>(row), 300 + row);
  std::string bytes;
  frame_internal::StringSink sink(bytes);
  msgpack::pack(sink, rows);
  ASSERT_TRUE(ByMessagePack(bytes));
  EXPECT_EQ(ByUs(bytes), ByMessagePack(bytes));
}

// --- fuzz ---

class Fuzzer {
 public:
  explicit Fuzzer(std::uint64_t seed) : random_(seed) {
    seeds_.push_back(EncodeFrame(SomeHeader(), SomeBody()));
    FrameHeader reply = SomeHeader();
    reply.kind = FrameKind::kReply;
    seeds_.push_back(EncodeFrame(reply, AppendReply{4, true}));
    reply.kind = FrameKind::kError;
    seeds_.push_back(EncodeFrame(reply, static_cast<std::uint32_t>(RpcError::kRejected)));
    FrameHeader large = SomeHeader();
    large.call = ~0ULL;
    large.dependency.id = 1ULL << 40;
    seeds_.push_back(EncodeFrame(large, std::string(300, 'z')));
  }

  std::string Next() {
    if (random_.Below(5) == 0) return RandomBytes();
    std::string bytes = seeds_[random_.Below(seeds_.size())];
    for (std::uint64_t left = 1 + random_.Below(4); left > 0; --left) Mutate(bytes);
    return bytes;
  }

 private:
  char RandomByte() {
    // The bytes that open arrays, maps, strings and numbers of every width are the dangerous ones.
    if (random_.Below(2) == 0) return static_cast<char>(0xc0 + random_.Below(0x20));
    return static_cast<char>(random_.Below(256));
  }

  std::string RandomBytes() {
    std::string bytes(random_.Below(64), '\0');
    for (char& byte : bytes) byte = RandomByte();
    if (!bytes.empty() && random_.Below(2) == 0) bytes[0] = '\x96';
    return bytes;
  }

  void Mutate(std::string& bytes) {
    if (bytes.empty()) return;
    const auto at = random_.Below(bytes.size());
    switch (random_.Below(7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.Below(8)));
        break;
      case 1:
        bytes[at] = RandomByte();
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, 1 + random_.Below(4), RandomByte());
        break;
      case 4:
        bytes.erase(at, 1 + random_.Below(4));
        break;
      case 5:  // a length that lies
        bytes.insert(at, std::string(1, "\xdd\xdf\xdb\xc6\xc9\xdc\xde"[random_.Below(7)]) +
                             std::string(4, random_.Below(2) == 0 ? '\xff' : '\x00'));
        break;
      default: {  // a piece of another frame
        const std::string& other = seeds_[random_.Below(seeds_.size())];
        bytes = bytes.substr(0, at) + other.substr(random_.Below(other.size()));
      }
    }
  }

  RandomStream random_;
  std::vector<std::string> seeds_;
};

constexpr int kInputs = kSanitized ? 40'000 : 250'000;

TEST(FrameFuzz, EveryInputIsDecodedOrRefusedWithAReason) {
  Fuzzer fuzzer(2024);
  int frames = 0;
  int bodies = 0;
  for (int i = 0; i < kInputs; ++i) {
    const std::string text = fuzzer.Next();
    const auto bytes = std::make_unique<char[]>(text.size());  // exactly as large as it claims
    std::memcpy(bytes.get(), text.data(), text.size());
    std::string error;
    const auto frame = DecodeFrame({bytes.get(), text.size()}, error);
    ASSERT_EQ(frame.has_value(), error.empty()) << "input " << i << ": " << error;
    if (!frame) continue;
    ++frames;
    std::string again_error;
    const std::string reencoded = Reencode(*frame);
    const auto again = DecodeFrame(reencoded, again_error);
    ASSERT_TRUE(again) << "input " << i << ": " << again_error;
    ASSERT_TRUE(SameHeader(again->header, frame->header)) << "input " << i;
    ASSERT_EQ(again->body, frame->body) << "input " << i;
    ASSERT_LE(reencoded.size(), text.size()) << "ours is the shortest encoding";
    const auto body = DecodeBody<AppendRequest>(frame->body, error);
    ASSERT_EQ(body.has_value(), error.empty()) << "input " << i << ": " << error;
    if (body) ++bodies;
  }
  // The generator must reach behind every check, or this test tests less than it says.
  EXPECT_GT(frames, kInputs / 10);
  EXPECT_GT(bodies, kInputs / 100);
  EXPECT_LT(frames, kInputs);
}

TEST(FrameFuzz, ARuntimeSurvivesEveryInput) {
  Replica replica;
  std::uint64_t served = 0;
  replica.runtime.rpc().Handle<AppendRequest>([&](PeerId, const AppendRequest& request) {
    ++served;
    return AppendReply{request.term, true};
  });
  std::shared_ptr<RpcEvent<AppendReply>> open;
  replica.Go([&] { open = replica.runtime.rpc().Call(1, AppendRequest{}); });
  replica.host.sent.clear();
  Fuzzer fuzzer(2025);
  constexpr int kDelivered = kInputs / 5;
  for (int i = 0; i < kDelivered; ++i) {
    replica.runtime.DeliverFrame(2, fuzzer.Next());
    if (i % 16 != 0) continue;
    ASSERT_NO_THROW(replica.Run()) << "input " << i;
  }
  replica.Run();
  const RpcCounters& counters = replica.runtime.rpc().counters();
  EXPECT_FALSE(open->IsDecided()) << "no input came from the peer that was asked";
  EXPECT_GT(served, 0U);
  EXPECT_GT(counters.malformed_frames, 0U);
  EXPECT_GT(counters.unknown_methods, 0U);
  EXPECT_GT(counters.stray_replies, 0U);
  EXPECT_LE(served + counters.unknown_methods + counters.stray_replies,
            static_cast<std::uint64_t>(kDelivered));
  EXPECT_GE(served + counters.unknown_methods + counters.stray_replies + counters.malformed_frames,
            static_cast<std::uint64_t>(kDelivered))
      << "an input was neither served nor counted";
  ASSERT_FALSE(replica.host.sent.empty());
  for (const auto& frame : replica.host.sent) {
    std::string error;
    EXPECT_TRUE(DecodeFrame(*frame.bytes, error)) << "we sent a malformed frame: " << error;
  }
}

}  // namespace
}  // namespace depfast
