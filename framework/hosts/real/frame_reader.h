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

  // For the bytes not yet looked at: a greeting is short, what follows it need not be.
  void set_frame_bytes_max(std::size_t bytes) { frame_bytes_max_ = bytes; }

  // Where to put the next bytes: never empty. Invalidates what Next returned.
  std::span<char> Room();
  // Says how many bytes were put there.
  void Commit(std::size_t bytes);

  // The next whole frame, without its length; valid until the next Room.
  std::optional<std::string_view> Next();

  // Next would return a frame.
  bool HasFrame() const;

  // The next length is above the limit: nothing more can be read from this stream.
  bool broken() const { return HasLength() && NextLength() > frame_bytes_max_; }

  // What the next frame claims for its length. Requires: broken() or HasFrame().
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
