#include "real/send_queue.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "real/wire.h"

namespace depfast::real {
namespace {

constexpr std::size_t kCopiedFrameBytesMax = 2048;
constexpr std::size_t kCopyBytes = 128 * 1024;
constexpr std::size_t kPiecesMax = 128;
constexpr std::size_t kWriteBytes = 512 * 1024;

// Builds one gathered write.
class Gatherer {
 public:
  explicit Gatherer(WriteScratch& scratch) : scratch_(scratch) {
    scratch_.copies.resize(kCopyBytes);
    scratch_.pieces.clear();
  }

  // There is room for one more frame of any size: large frames are referenced, not copied.
  bool HasRoom() const {
    return used_ + kLengthBytes + kCopiedFrameBytesMax <= kCopyBytes &&
           scratch_.pieces.size() + 2 <= kPiecesMax && total_ < kWriteBytes;
  }

  void AddCopy(std::string_view bytes) {
    char* const to = scratch_.copies.data() + used_;
    std::copy(bytes.begin(), bytes.end(), to);
    used_ += bytes.size();
    total_ += bytes.size();
    if (last_is_copy_) {
      scratch_.pieces.back().iov_len += bytes.size();
    } else {
      scratch_.pieces.push_back({to, bytes.size()});
      last_is_copy_ = true;
    }
  }

  void AddReference(std::string_view bytes) {
    scratch_.pieces.push_back({const_cast<char*>(bytes.data()), bytes.size()});
    total_ += bytes.size();
    last_is_copy_ = false;
  }

 private:
  WriteScratch& scratch_;
  std::size_t used_ = 0;   // of the copies
  std::size_t total_ = 0;  // of the write
  bool last_is_copy_ = false;
};

}  // namespace

void SendQueue::Push(FrameId frame, Bytes bytes) {
  assert(bytes != nullptr && bytes->size() <= kMaxFrameBytes);
  assert(entries_.empty() || entries_.back().id < frame);
  bytes_ += bytes->size();
  ++live_;
  entries_.push_back({frame, std::move(bytes)});
}

bool SendQueue::Release(FrameId frame) {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), frame,
                       [](const Entry& entry, FrameId wanted) { return entry.id < wanted; });
  if (found == entries_.end() || found->id != frame || found->bytes == nullptr) return false;
  if (found == entries_.begin() && written_ > 0) return false;
  Drop(*found);
  PopDropped();
  return true;
}

std::size_t SendQueue::DropOldest(std::size_t bytes_max) {
  std::size_t dropped = 0;
  auto next = entries_.begin();
  if (written_ > 0) ++next;
  for (; next != entries_.end() && bytes_ > bytes_max; ++next) {
    if (next->bytes == nullptr) continue;
    Drop(*next);
    ++dropped;
  }
  PopDropped();
  return dropped;
}

Bytes SendQueue::TakeFirst() {
  assert(!entries_.empty() && written_ == 0);
  Bytes bytes = entries_.front().bytes;
  bytes_ -= bytes->size();
  PopFront();
  return bytes;
}

std::span<const iovec> SendQueue::Gather(WriteScratch& scratch) {
  Gatherer gatherer(scratch);
  std::size_t skip = written_;
  for (const Entry& entry : entries_) {
    if (!gatherer.HasRoom()) break;
    if (entry.bytes == nullptr) continue;
    const auto length = EncodeLength(entry.bytes->size());
    const std::size_t skip_of_length = std::min(skip, kLengthBytes);
    if (skip_of_length < kLengthBytes) {
      gatherer.AddCopy(std::string_view(length.data(), kLengthBytes).substr(skip_of_length));
    }
    const auto rest = std::string_view(*entry.bytes).substr(skip - skip_of_length);
    if (rest.size() <= kCopiedFrameBytesMax) {
      gatherer.AddCopy(rest);
    } else {
      gatherer.AddReference(rest);
    }
    skip = 0;
  }
  return scratch.pieces;
}

std::size_t SendQueue::Consume(std::size_t bytes) {
  std::size_t completed = 0;
  while (bytes > 0) {
    assert(!entries_.empty() && "more was written than was queued");
    const Entry& first = entries_.front();
    const std::size_t taken = std::min(bytes, WireBytes(first) - written_);
    const std::size_t length_left = kLengthBytes - std::min(written_, kLengthBytes);
    bytes_ -= taken - std::min(taken, length_left);
    written_ += taken;
    bytes -= taken;
    if (written_ == WireBytes(first)) {
      PopFront();
      ++completed;
    }
  }
  return completed;
}

void SendQueue::Rewind() {
  bytes_ += written_ - std::min(written_, kLengthBytes);
  written_ = 0;
}

void SendQueue::PopFront() {
  entries_.pop_front();
  --live_;
  written_ = 0;
  PopDropped();
}

void SendQueue::PopDropped() {
  while (!entries_.empty() && entries_.front().bytes == nullptr) entries_.pop_front();
}

void SendQueue::Drop(Entry& entry) {
  bytes_ -= entry.bytes->size();
  --live_;
  entry.bytes = nullptr;
}

std::size_t SendQueue::WireBytes(const Entry& entry) const {
  return kLengthBytes + entry.bytes->size();
}

}  // namespace depfast::real
