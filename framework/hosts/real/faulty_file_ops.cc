#include "real/slow_file_ops.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "faults/transfer_time.h"

namespace depfast::real {
DiskClock RealDiskClock() {
  return {[] { return Time(std::chrono::steady_clock::now().time_since_epoch()); },
          [](Duration time) { std::this_thread::sleep_for(time); }};
}

SlowFileOps::SlowFileOps(std::unique_ptr<FileOps> ops, std::unique_ptr<DiskFaultFile> faults,
                         DiskClock clock)
    : ops_(std::move(ops)), faults_(std::move(faults)), clock_(std::move(clock)) {}

template <typename Operation>
auto SlowFileOps::Slowly(const Operation& operation, bool moves) {
  const Time began = clock_.now();
  const auto result = operation();
  const Time ended = clock_.now();
  if (const auto fault = faults_->At(ended)) {
    const bool is_slow = moves && result > 0 && fault->bytes_per_second > 0;
    const Duration transfer =
        is_slow ? faults::TransferTime(result, fault->bytes_per_second) : Duration::zero();
    const Duration work = std::max(ended - began, transfer);
    WaitUntil(began + fault->delay + quota_.Spend(began, work, fault->percent));
  }
  return result;
}

void SlowFileOps::WaitUntil(Time end) const {
  for (Time now = clock_.now(); now < end && faults_->At(now); now = clock_.now()) {
    clock_.sleep(std::min(end - now, kPatience));
  }
}

int SlowFileOps::Open(const std::string& file, bool create) {
  return Slowly([&] { return ops_->Open(file, create); });
}

std::int64_t SlowFileOps::Size(int fd) {
  return Slowly([&] { return ops_->Size(fd); });
}

ssize_t SlowFileOps::Append(int fd, std::span<const iovec> pieces) {
  return Slowly([&] { return ops_->Append(fd, pieces); }, true);
}

ssize_t SlowFileOps::Read(int fd, char* to, std::size_t bytes, std::uint64_t offset) {
  return Slowly([&] { return ops_->Read(fd, to, bytes, offset); }, true);
}

int SlowFileOps::Truncate(int fd, std::uint64_t length) {
  return Slowly([&] { return ops_->Truncate(fd, length); });
}

int SlowFileOps::Sync(int fd) {
  return Slowly([&] { return ops_->Sync(fd); });
}

int SlowFileOps::Rename(const std::string& from, const std::string& to) {
  return Slowly([&] { return ops_->Rename(from, to); });
}

int SlowFileOps::Remove(const std::string& file) {
  return Slowly([&] { return ops_->Remove(file); });
}

int SlowFileOps::SyncDirectory() {
  return Slowly([&] { return ops_->SyncDirectory(); });
}

}  // namespace depfast::real
