// Disk: the thread that does a replica's disk operations, with group commit.
//
// The thread takes everything that is queued, writes it in order, syncs once and completes it all;
// what is submitted meanwhile is the next batch. So the longer a sync takes, the more operations
// share the next one.
//
// There is one thread to a replica, because a replica's operations take effect in order and an
// operation with `sync` vouches for everything before it: a second thread could only wait for the
// first.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
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
  // As Stop.
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Collects an operation. Requires: not stopped.
  void Submit(IoRequest request) { collected_.push_back(std::move(request)); }

  // Hands what was collected to the thread: once per turn of the event loop.
  void Flush();

  // Readable (an eventfd) while there may be completions to take.
  int completion_fd() const { return completed_event_.get(); }

  // What has completed, in the order it was submitted. Does not wait, and without completions makes
  // no system call.
  std::vector<IoCompletion> TakeCompletions();

  // Finishes all that was submitted and ends the thread. May be called twice.
  void Stop();

 private:
  void ThreadMain();

  std::vector<IoRequest> collected_;  // the submitting thread's own
  DiskFiles files_;                   // the disk thread's own
  Descriptor completed_event_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<IoRequest> queue_;            // guarded by mutex_
  std::vector<IoCompletion> completed_;     // guarded by mutex_
  std::atomic<bool> has_completed_{false};  // completed_ is not empty; changes under mutex_
  bool stopping_ = false;                   // guarded by mutex_

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace depfast::real
