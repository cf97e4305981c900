#include "real/frame_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "depfast/host/host.h"

namespace depfast::real {
namespace {

std::string Framed(const std::string& payload) {
  const auto length = EncodeLength(payload.size());
  return std::string(length.begin(), length.end()) + payload;
}

void Feed(FrameReader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto room = reader.Room();
    ASSERT_FALSE(room.empty());
    const auto part = bytes.substr(0, room.size());
    std::copy(part.begin(), part.end(), room.begin());
    reader.Commit(part.size());
    bytes.remove_prefix(part.size());
  }
}

std::vector<std::string> TakeAll(FrameReader& reader) {
  std::vector<std::string> frames;
  while (const auto frame = reader.Next()) frames.emplace_back(*frame);
  return frames;
}

TEST(FrameReader, AStreamCutAtEveryByteGivesTheSameFrames) {
  const std::vector<std::string> frames = {"one", "", std::string(300, 'x'), "four"};
  std::string stream;
  for (const auto& frame : frames) stream += Framed(frame);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameReader reader(kMaxFrameBytes);
    Feed(reader, stream.substr(0, cut));
    auto got = TakeAll(reader);
    Feed(reader, stream.substr(cut));
    for (auto& frame : TakeAll(reader)) got.push_back(frame);
    EXPECT_EQ(got, frames) << "cut at " << cut;
    EXPECT_FALSE(reader.HasFrame());
  }
}

TEST(FrameReader, AFrameOfTheLargestSizePassesAndOneByteMoreBreaksTheStream) {
  const std::string largest(kMaxFrameBytes, 'L');
  FrameReader reader(kMaxFrameBytes);
  Feed(reader, Framed(largest) + Framed("after"));
  EXPECT_TRUE(reader.Next() == largest);
  EXPECT_EQ(reader.Next(), "after");
  EXPECT_FALSE(reader.broken());
  const auto length = EncodeLength(kMaxFrameBytes + 1);
  Feed(reader, std::string(length.begin(), length.end()));
  EXPECT_TRUE(reader.broken());
  EXPECT_EQ(reader.Next(), std::nullopt);
}

TEST(FrameReader, AClaimedLengthAllocatesNothing) {
  FrameReader reader(kMaxFrameBytes);
  const auto length = EncodeLength(kMaxFrameBytes);
  Feed(reader, std::string(length.begin(), length.end()));
  EXPECT_LT(reader.Room().size(), kMaxFrameBytes / 16);
}

TEST(FrameReader, ManyFramesWrapTheBufferUnharmed) {
  FrameReader reader(kMaxFrameBytes);
  for (int i = 0; i < 2000; ++i) {
    const std::string payload(static_cast<std::size_t>(i * 37 % 5000),
                              static_cast<char>('a' + i % 26));
    Feed(reader, Framed(payload).substr(0, 3));
    EXPECT_FALSE(reader.HasFrame());
    Feed(reader, Framed(payload).substr(3));
    EXPECT_EQ(reader.Next(), payload);
  }
}

}  // namespace
}  // namespace depfast::real
