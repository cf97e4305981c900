// Reclaimer: frees the space of large files that have no name any more.
//
// The kernel frees a file when its last descriptor is closed, and all of it at once. On ext4 that
// takes 25 ms for 112 MiB. Meanwhile neither the thread nor, for much of the time, its processor
// does anything else. So another thread shortens the file step by step. After each step it rests
// for the time that the step took.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "real/descriptor.h"

namespace depfast::real {

class Reclaimer {
 public:
  static constexpr off_t kStepBytes = off_t{1} << 20;

  Reclaimer() = default;
  // Closes the files that are left, which frees them at once, and ends the thread.
  ~Reclaimer();
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  // Frees the file after those of earlier calls, and closes it. Requires: the file has no name, and
  // the loss of its last name is durable. The first call starts the thread. May be called from one
  // thread only.
  void Free(Descriptor file);

 private:
  void ThreadMain();
  // Returns when the file is empty, or when the object ends.
  void Shorten(int fd, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Descriptor> files_;  // guarded by mutex_
  bool stopping_ = false;         // guarded by mutex_
  std::thread thread_;
};

}  // namespace depfast::real
