#include "real/frame_reader.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace depfast::real {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;
// A buffer above this size, grown by one huge frame, is freed.
constexpr std::size_t kKeptBytesMax = 1024 * 1024;

}  // namespace

std::span<char> FrameReader::Room() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ == end_ && buffer_.size() > kKeptBytesMax) buffer_ = {};
  if (buffer_.size() - end_ < kBufferBytes / 4) MakeRoom();
  return std::span(buffer_).subspan(end_);
}

void FrameReader::MakeRoom() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ * 2 > buffer_.size() || buffer_.empty()) {
    buffer_.resize(std::max(kBufferBytes, buffer_.size() * 2));
  }
}

void FrameReader::Commit(std::size_t bytes) {
  assert(bytes <= buffer_.size() - end_);
  end_ += bytes;
}

bool FrameReader::HasFrame() const {
  return HasLength() && !broken() && end_ - begin_ - kLengthBytes >= NextLength();
}

std::optional<std::string_view> FrameReader::Next() {
  if (!HasFrame()) return std::nullopt;
  const std::string_view frame(buffer_.data() + begin_ + kLengthBytes, NextLength());
  begin_ += kLengthBytes + frame.size();
  return frame;
}

}  // namespace depfast::real
