// FrameReader: cuts a stream of bytes into frames.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "real/wire.h"

namespace depfast::real {

class FrameReader {
 public:
  // A length above `frame_bytes_max` breaks the stream. A claimed length allocates nothing: the
  // buffer grows as bytes arrive.
  explicit FrameReader(std::size_t frame_bytes_max) : frame_bytes_max_(frame_bytes_max) {}

  // Sets the limit for later frames: a greeting is short, the frames after it need not be.
  void set_frame_bytes_max(std::size_t bytes) { frame_bytes_max_ = bytes; }

  // The buffer for the next bytes: never empty. Invalidates the result of Next.
  std::span<char> Room();
  // Declares that the first `bytes` of Room were filled.
  void Commit(std::size_t bytes);

  // The next whole frame, without its length; valid until the next Room.
  std::optional<std::string_view> Next();

  // Next would return a frame.
  bool HasFrame() const;

  // The next frame's length is above the limit: nothing more can be read from this stream.
  bool broken() const { return HasLength() && NextLength() > frame_bytes_max_; }

  // The length that the next frame claims. Requires: broken() or HasFrame().
  std::size_t NextLength() const { return DecodeLength(buffer_.data() + begin_); }

 private:
  bool HasLength() const { return end_ - begin_ >= kLengthBytes; }
  void MakeRoom();

  std::size_t frame_bytes_max_;
  std::vector<char> buffer_;
  // Unread bytes are [begin_, end_) of the buffer; begin_ is always at the start of a frame.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace depfast::real
