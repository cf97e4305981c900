#include "real/reclaimer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace depfast::real {

Reclaimer::~Reclaimer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Reclaimer::Free(Descriptor file) {
  {
    const std::lock_guard lock(mutex_);
    files_.push_back(std::move(file));
  }
  changed_.notify_one();
  if (!thread_.joinable()) thread_ = std::thread([this] { ThreadMain(); });
}

void Reclaimer::ThreadMain() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !files_.empty(); });
    if (stopping_) return;
    Descriptor file = std::move(files_.front());
    files_.pop_front();
    Shorten(file.get(), lock);
  }
}

void Reclaimer::Shorten(int fd, std::unique_lock<std::mutex>& lock) {
  using Clock = std::chrono::steady_clock;
  struct stat status = {};
  off_t size = fstat(fd, &status) == 0 ? status.st_size : 0;
  while (size > 0 && !stopping_) {
    lock.unlock();
    size = std::max(off_t{0}, size - kStepBytes);
    const auto began = Clock::now();
    if (ftruncate(fd, size) != 0) size = 0;  // closing it frees what is left
    const auto took = Clock::now() - began;
    lock.lock();
    changed_.wait_for(lock, took, [this] { return stopping_; });
  }
}

}  // namespace depfast::real
