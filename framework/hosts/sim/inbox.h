// Inbox: the frames that have arrived at a replica and that it has not read, one queue for each
// connection.
//
// Reads are bounded and round-robin (document 002, section 3.2.2). Otherwise a burst from one peer,
// or from the clients, would keep everybody's acknowledgements waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "depfast/host/host.h"

namespace depfast::sim {

class Inbox {
 public:
  struct Frame {
    std::uint64_t link_epoch;  // of the connection on which it arrived
    Bytes bytes;
  };

  std::size_t frames() const { return frames_; }
  std::size_t bytes() const { return bytes_; }

  // `from` is the sender's index. Requires: from < nodes; `nodes` never shrinks.
  void Add(std::size_t from, std::size_t nodes, Frame frame) {
    bytes_ += frame.bytes->size();
    ++frames_;
    if (queues_.size() < nodes) queues_.resize(nodes);
    queues_[from].push_back(std::move(frame));
  }

  // Takes at most `per_connection_max` frames from each connection and `frames_max` in all, and
  // calls read(sender's index, frame) for each. Begins with the connection after the last one that
  // the previous call looked at.
  template <typename Read>
  void Take(std::size_t per_connection_max, std::size_t frames_max, const Read& read) {
    const std::size_t connections = queues_.size();
    std::size_t taken = 0;
    std::size_t from = next_;
    for (std::size_t i = 0; i < connections && taken < frames_max; ++i) {
      from = (next_ + i) % connections;
      for (std::size_t n = 0;
           n < per_connection_max && taken < frames_max && !queues_[from].empty(); ++n, ++taken) {
        Frame frame = std::move(queues_[from].front());
        queues_[from].pop_front();
        --frames_;
        bytes_ -= frame.bytes->size();
        read(from, std::move(frame));
      }
    }
    if (connections > 0) next_ = (from + 1) % connections;
  }

  void Clear() { *this = Inbox(); }

 private:
  std::vector<std::deque<Frame>> queues_;  // by the sender's index
  std::size_t frames_ = 0;
  std::size_t bytes_ = 0;
  std::size_t next_ = 0;  // the connection with which the next read begins
};

}  // namespace depfast::sim
