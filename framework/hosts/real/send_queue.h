// SendQueue: the frames for one peer that the kernel has not taken.
//
// This is the queue below the Host: what a slow peer makes us hold is what is in here.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "depfast/host/host.h"

namespace depfast::real {

// Memory that gathering a write needs for a moment; one serves all queues of a thread.
struct WriteScratch {
  std::vector<char> copies;
  std::vector<iovec> pieces;
};

class SendQueue {
 public:
  // Requires: `frame` is greater than every id pushed before.
  void Push(FrameId frame, Bytes bytes);

  // Drops a frame of which nothing is written. Returns whether it did.
  bool Release(FrameId frame);

  // Drops frames, the oldest first but never one partly written, until at most `bytes_max` are
  // held or nothing more can go. Returns how many went.
  std::size_t DropOldest(std::size_t bytes_max);

  // Bytes of frames, without their lengths, that are not written.
  std::size_t bytes() const { return bytes_; }
  bool empty() const { return live_ == 0; }

  // The bytes to write next, in order: about half a megabyte at most. Small frames are copied
  // together (a piece costs the kernel more than a copy of some hundred bytes), large ones are
  // referred to. Valid until the queue or the scratch changes. Empty only if the queue is.
  std::span<const iovec> Gather(WriteScratch& scratch);

  // The kernel took the first `bytes` of what Gather returned. Returns the frames completed.
  std::size_t Consume(std::size_t bytes);

  // The connection is gone: a frame partly written starts anew on the next one.
  void Rewind();

 private:
  struct Entry {
    FrameId id;
    Bytes bytes;  // null: dropped
  };

  void PopFront();
  void PopDropped();
  void Drop(Entry& entry);
  std::size_t WireBytes(const Entry& entry) const;

  std::deque<Entry> entries_;  // ascending ids; the first is never a dropped one
  std::size_t live_ = 0;       // entries not dropped
  std::size_t bytes_ = 0;      // see bytes()
  // How much of the first entry the kernel has, its length's four bytes included. Less than its
  // size on the wire; 0 if there are no entries.
  std::size_t written_ = 0;
};

}  // namespace depfast::real
