// Counters of one real replica: written by one thread, readable by any.
#pragma once

#include <atomic>
#include <cstdint>

namespace depfast::real {

// One writer, so an increment needs no locked instruction.
class Counter {
 public:
  void Add(std::uint64_t amount = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct NetworkCounters {
  Counter frames_in;
  Counter frames_out;        // wholly taken by the kernel
  Counter client_frames_in;  // included above: frames from, and to, clients
  Counter client_frames_out;
  Counter bytes_in;  // on the wire, length prefixes included
  Counter bytes_out;
  Counter reads;   // system calls
  Counter writes;  // system calls
  Counter accepted;
  Counter connected;        // outgoing connections whose peer has greeted us
  Counter lost;             // outgoing connections that ended or could not be made
  Counter malformed;        // connections closed because of malformed bytes
  Counter dropped_frames;   // the queue was full, or the client was gone
  Counter released_frames;  // dropped by Host::Release
};

struct DiskCounters {
  Counter batches;  // group commits: the operations that the thread found queued at one time
  Counter operations;
  Counter writes;  // system calls
  Counter bytes;   // written
  Counter syncs;   // of files
  Counter directory_syncs;
  Counter errors;  // operations that failed
};

}  // namespace depfast::real
