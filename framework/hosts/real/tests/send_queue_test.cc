#include "real/send_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "real/frame_reader.h"

namespace depfast::real {
namespace {

// Simulates a kernel that takes `bytes` of the next write. Returns the bytes taken.
std::string TakeBytes(SendQueue& queue, std::size_t bytes) {
  WriteScratch scratch;
  std::string all;
  for (const iovec& piece : queue.Gather(scratch)) {
    all.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  }
  all.resize(std::min(all.size(), bytes));
  queue.Consume(all.size());
  return all;
}

std::vector<std::string> Frames(const std::string& stream) {
  FrameReader reader(kMaxFrameBytes);
  std::vector<std::string> frames;
  for (std::size_t at = 0; at < stream.size();) {
    const auto room = reader.Room();
    const std::size_t part = std::min(room.size(), stream.size() - at);
    std::copy_n(stream.data() + at, part, room.begin());
    reader.Commit(part);
    at += part;
    while (const auto frame = reader.Next()) frames.emplace_back(*frame);
  }
  return frames;
}

TEST(SendQueue, SmallFramesLeaveAsOnePiece) {
  SendQueue queue;
  for (FrameId id = 1; id <= 100; ++id) queue.Push(id, MakeBytes("frame " + std::to_string(id)));
  WriteScratch scratch;
  EXPECT_EQ(queue.Gather(scratch).size(), 1u);
}

TEST(SendQueue, LargeFramesAreReferredToNotCopied) {
  SendQueue queue;
  const Bytes large = MakeBytes(std::string(100'000, 'L'));
  queue.Push(1, MakeBytes("small"));
  queue.Push(2, large);
  WriteScratch scratch;
  const auto pieces = queue.Gather(scratch);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[1].iov_base, large->data());
}

TEST(SendQueue, AReleasedFrameIsNotWritten) {
  SendQueue queue;
  queue.Push(1, MakeBytes("one"));
  queue.Push(2, MakeBytes("two"));
  queue.Push(3, MakeBytes("three"));
  EXPECT_TRUE(queue.Release(2));
  EXPECT_FALSE(queue.Release(2)) << "the frame was released already";
  EXPECT_FALSE(queue.Release(9)) << "the frame was never queued";
  EXPECT_EQ(queue.bytes(), 8u);
  EXPECT_EQ(Frames(TakeBytes(queue, 1000)), (std::vector<std::string>{"one", "three"}));
  EXPECT_TRUE(queue.empty());
}

TEST(SendQueue, AFramePartlyWrittenIsNeverReleased) {
  for (std::size_t taken = 1; taken < 7; ++taken) {  // of 4 + 3 bytes
    SendQueue queue;
    queue.Push(1, MakeBytes("one"));
    queue.Push(2, MakeBytes("two"));
    std::string stream = TakeBytes(queue, taken);
    EXPECT_FALSE(queue.Release(1)) << "after " << taken << " bytes";
    EXPECT_EQ(queue.DropOldest(0), 1u) << "only the second frame may be dropped";
    stream += TakeBytes(queue, 1000);
    EXPECT_EQ(Frames(stream), (std::vector<std::string>{"one"}));
  }
}

TEST(SendQueue, HeldBytesAreThoseOfFramesNotYetWritten) {
  SendQueue queue;
  queue.Push(1, MakeBytes("12345"));
  queue.Push(2, MakeBytes("678"));
  EXPECT_EQ(queue.bytes(), 8u);
  TakeBytes(queue, 3);  // three bytes of the length
  EXPECT_EQ(queue.bytes(), 8u);
  TakeBytes(queue, 3);  // the length's last byte, and two of the frame
  EXPECT_EQ(queue.bytes(), 6u);
  TakeBytes(queue, 3 + 4 + 1);
  EXPECT_EQ(queue.bytes(), 2u);
  queue.Rewind();
  EXPECT_EQ(queue.bytes(), 3u);
  EXPECT_EQ(Frames(TakeBytes(queue, 1000)), (std::vector<std::string>{"678"}));
}

TEST(SendQueue, DropsTheOldestFirst) {
  SendQueue queue;
  for (FrameId id = 1; id <= 5; ++id) queue.Push(id, MakeBytes(std::to_string(id) + "234567890"));
  EXPECT_EQ(queue.DropOldest(25), 3u);
  EXPECT_EQ(Frames(TakeBytes(queue, 1000)), (std::vector<std::string>{"4234567890", "5234567890"}));
}

// Frames of any sizes are mixed with releases and short writes. The stream then consists of whole
// frames, in order, without the released ones. The number of held bytes is exact.
TEST(SendQueue, RandomOperationsAgreeWithAModel) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed);
    SendQueue queue;
    std::vector<std::pair<FrameId, std::string>> expected;
    std::string stream;
    for (FrameId id = 1; id <= 60; ++id) {
      const std::size_t size = random.Below(4) == 0 ? random.Below(9000) : random.Below(40);
      expected.emplace_back(id, std::string(size, static_cast<char>('a' + id % 26)));
      queue.Push(id, MakeBytes(expected.back().second));
      const FrameId victim = 1 + random.Below(id);
      if (random.Below(3) == 0 && queue.Release(victim)) {
        std::erase_if(expected, [&](const auto& frame) { return frame.first == victim; });
      }
      if (random.Below(2) == 0) stream += TakeBytes(queue, random.Below(3000));
      std::size_t sent_and_held = queue.bytes();
      std::size_t whole = 0;
      for (const auto& frame : expected) whole += frame.second.size();
      for (const auto& frame : Frames(stream)) sent_and_held += frame.size();
      EXPECT_LE(sent_and_held, whole);
    }
    while (!queue.empty()) stream += TakeBytes(queue, 1 + random.Below(3000));
    std::vector<std::string> contents;
    for (const auto& frame : expected) contents.push_back(frame.second);
    ASSERT_EQ(Frames(stream), contents) << "seed " << seed;
    ASSERT_EQ(queue.bytes(), 0u);
  }
}

}  // namespace
}  // namespace depfast::real
