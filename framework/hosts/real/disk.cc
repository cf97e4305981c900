#include "real/disk.h"

#include <sys/eventfd.h>

#include <cstdint>
#include <iterator>
#include <utility>

namespace depfast::real {

Disk::Disk(std::unique_ptr<FileOps> ops, DiskCounters& counters)
    : files_(std::move(ops), counters),
      completed_event_(Checked(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")),
      thread_([this] { ThreadMain(); }) {}

Disk::~Disk() { Stop(); }

void Disk::Flush() {
  if (collected_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    queue_.insert(queue_.end(), std::move_iterator(collected_.begin()),
                  std::move_iterator(collected_.end()));
  }
  collected_.clear();
  changed_.notify_one();
}

std::vector<IoCompletion> Disk::TakeCompletions() {
  if (!has_completed_.load()) return {};
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = read(completed_event_.get(), &count, sizeof count);
  has_completed_ = false;
  return std::exchange(completed_, {});
}

std::optional<DiskFailure> Disk::failure() const {
  if (!has_failed_.load()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Disk::Stop() {
  Flush();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Disk::ThreadMain() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::vector<IoRequest> batch = std::exchange(queue_, {});
    lock.unlock();
    auto done = files_.Run(batch);
    lock.lock();
    if (!failure_ && files_.failure()) {
      failure_ = files_.failure();
      has_failed_ = true;
    }
    completed_.insert(completed_.end(), std::move_iterator(done.begin()),
                      std::move_iterator(done.end()));
    if (has_completed_.exchange(true)) continue;  // an earlier notification is still pending
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto put = write(completed_event_.get(), &one, sizeof one);
  }
}

}  // namespace depfast::real
