// Host: all of the outside world that a replica can touch.
//
// The runtime is "sans-I/O": it never opens a socket or a file, reads a clock or draws entropy. It
// asks its Host. Three hosts exist (hosts/real, hosts/sim, hosts/sealed), and the same replica runs
// on each unchanged. A grader, too, may look only at data that crosses this interface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast {

// Bytes that nobody changes any more, so that one broadcast to five peers holds them once.
using Bytes = std::shared_ptr<const std::string>;

inline Bytes MakeBytes(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

// Names a frame given to Send. Unique per replica and incarnation, increasing.
using FrameId = std::uint64_t;

// The largest frame that any host carries. A larger one is a programming error of the sender, and
// rejected as malformed by a receiver.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{16} << 20;

// A disk operation. Operations of one replica take effect in the order they were submitted.
struct IoRequest {
  enum class Kind : std::uint8_t {
    kAppend = 0,    // add `data` at the end of `file`, which is created if missing
    kRead = 1,      // `length` bytes of `file` from `offset` on, or those up to its end
    kTruncate = 2,  // keep the first `length` bytes of `file`
    kRename = 3,    // atomically rename `file` to `to`; replaces an existing file of that name
    kRemove = 4,    // forget `file`
  };

  // The length of a read that takes all there is.
  static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

  std::uint64_t id = 0;  // chosen by the submitter, returned with the completion
  Kind kind = Kind::kAppend;
  bool sync = false;  // complete only when this and everything before it survives a crash
  std::string file;   // a plain name: no '/'
  std::string to;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  Bytes data;
};

// The result of a disk operation.
struct [[nodiscard]] IoCompletion {
  std::uint64_t id = 0;
  int error = 0;  // an errno; 0 is success. Any first part of a failed write may be on disk.
  Bytes data;     // the contents, for kRead
};

// A claim that a replica makes about itself (its role, its commit index ...). Tests read it, and
// cross-check it against frames and disk contents. `kind` and the meaning of the values belong to
// the lab's schema.
struct Observation {
  std::uint32_t kind = 0;
  std::array<std::uint64_t, 4> values{};
};

class Host {
 public:
  virtual ~Host() = default;

  // Constant within a step (from one delivery to the moment every coroutine waits).
  virtual Time Now() = 0;

  // The next draw of this replica's own stream.
  virtual std::uint64_t Random() = 0;

  // Queues a frame for `peer`. Frames to one peer are carried in order and leave when the current
  // step ends. They may be lost (a peer that is down, a partition). Requires: at most
  // kMaxFrameBytes.
  virtual FrameId Send(PeerId peer, Bytes frame) = 0;

  // Drops a frame that is not on the wire yet; otherwise does nothing. A frame is never dropped in
  // part.
  virtual void Release(PeerId peer, FrameId frame) = 0;

  // Bytes queued for `peer` that are not on the wire: those at the start of this step, plus those
  // that this step has sent. Requires: `peer` is a replica (the host keeps no count for clients).
  virtual std::size_t HeldBytes(PeerId peer) = 0;

  // Starts a disk operation; its completion is delivered in a later step.
  virtual void Submit(IoRequest request) = 0;

  // Asks for a step at `when` (or as soon as possible after it). Replaces the earlier wish.
  virtual void WakeAt(Time when) = 0;

  virtual void Observe(const Observation& observation) = 0;
};

}  // namespace depfast
