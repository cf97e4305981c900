// Disk: the thread that executes a replica's disk operations, with group commit.
//
// The thread takes all queued operations, writes them in order, syncs once and completes them all.
// Operations that are submitted meanwhile form the next batch. So the longer a sync takes, the more
// operations share the next sync.
//
// A replica has one disk thread, because its operations take effect in order. An operation with
// `sync` makes all earlier operations durable, so a second thread could only wait for the first.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "depfast/host/host.h"
#include "real/counters.h"
#include "real/descriptor.h"
#include "real/disk_files.h"

namespace depfast::real {

class Disk {
 public:
  // `counters` must outlive the disk.
  Disk(std::unique_ptr<FileOps> ops, DiskCounters& counters);
  // Stops it.
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Collects an operation. Requires: not stopped.
  void Submit(IoRequest request) { collected_.push_back(std::move(request)); }

  // Hands the collected operations to the thread: once per turn of the event loop.
  void Flush();

  // Readable (an eventfd) while there may be completions to take.
  int completion_fd() const { return completed_event_.get(); }

  // The completed operations, in the order of submission. Does not wait, and makes no system call
  // if there are none.
  [[nodiscard]] std::vector<IoCompletion> TakeCompletions();

  // The first operation that has failed; nothing while none has. Known before the completion of
  // that operation can be taken.
  [[nodiscard]] std::optional<DiskFailure> failure() const;

  // Finishes all submitted operations and ends the thread. May be called twice.
  void Stop();

 private:
  void ThreadMain();

  std::vector<IoRequest> collected_;  // used by the submitting thread only
  DiskFiles files_;                   // used by the disk thread only
  Descriptor completed_event_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<IoRequest> queue_;            // guarded by mutex_
  std::vector<IoCompletion> completed_;     // guarded by mutex_
  std::atomic<bool> has_completed_{false};  // completed_ is not empty; changes under mutex_
  std::optional<DiskFailure> failure_;      // guarded by mutex_
  std::atomic<bool> has_failed_{false};     // failure_ is set; changes under mutex_
  bool stopping_ = false;                   // guarded by mutex_

  std::thread thread_;  // last: the thread uses all members above
};

}  // namespace depfast::real
