// SendQueue: the frames for one peer that the kernel has not taken.
//
// This is the queue below the Host: it holds the backlog of a slow peer.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "depfast/host/host.h"

namespace depfast::real {

// Temporary memory of a gathered write; all queues of a thread share one.
struct WriteScratch {
  std::vector<char> copies;
  std::vector<iovec> pieces;
};

class SendQueue {
 public:
  // Requires: `frame` is greater than every id pushed before.
  void Push(FrameId frame, Bytes bytes);

  // Drops the frame unless a part of it is written. Returns whether it was dropped.
  bool Release(FrameId frame);

  // Drops the oldest frames, but none that is partly written, until at most `bytes_max` are held or
  // no more frames can be dropped. Returns the number of dropped frames.
  std::size_t DropOldest(std::size_t bytes_max);

  // Takes the first frame out of the queue. Requires: not empty; no part of it is written.
  Bytes TakeFirst();
  // Its size. Requires: not empty.
  std::size_t first_bytes() const { return entries_.front().bytes->size(); }

  // Bytes of frames, without their lengths, that are not written.
  std::size_t bytes() const { return bytes_; }
  bool empty() const { return live_ == 0; }

  // The bytes to write next, in order: about half a megabyte at most. Small frames are copied
  // together, because a piece costs the kernel more than a copy of some hundred bytes. Large frames
  // are referenced. Valid until the queue or the scratch changes. Empty only if the queue is empty.
  std::span<const iovec> Gather(WriteScratch& scratch);

  // The kernel took the first `bytes` of the result of Gather. Returns the number of frames that
  // are now wholly written.
  std::size_t Consume(std::size_t bytes);

  // The connection is gone: a partly written frame is written anew on the next connection.
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

  std::deque<Entry> entries_;  // ascending ids; the first entry is never dropped
  std::size_t live_ = 0;       // entries not dropped
  std::size_t bytes_ = 0;      // see bytes()
  // The bytes of the first entry that the kernel has taken, the four bytes of the length included.
  // Less than the entry's size on the wire; 0 if there are no entries.
  std::size_t written_ = 0;
};

}  // namespace depfast::real
