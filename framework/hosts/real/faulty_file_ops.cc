#include "real/faulty_file_ops.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "faults/transfer_time.h"

namespace depfast::real {

using faults::FaultKind;

DiskClock RealDiskClock() {
  return {[] { return Time(std::chrono::steady_clock::now().time_since_epoch()); },
          [](Duration time) { std::this_thread::sleep_for(time); }};
}

FaultyFileOps::FaultyFileOps(std::unique_ptr<FileOps> ops, std::string directory,
                             std::shared_ptr<const FaultFile> faults, RandomStream random,
                             DiskClock clock)
    : ops_(std::move(ops)),
      directory_(std::move(directory)),
      faults_(std::move(faults)),
      random_(random),
      clock_(std::move(clock)) {}

// ---- slow ----

template <typename Operation>
auto FaultyFileOps::Slowly(const Operation& operation, bool moves) {
  const Time began = clock_.now();
  const auto result = operation();
  const Time ended = clock_.now();
  const InjectedFaults faults = faults_->At(ended);
  if (faults.empty()) return result;

  const std::int64_t rate = faults.AmountOr(FaultKind::kDiskSlow, 0);
  const bool is_slow = moves && result > 0 && rate > 0;
  const Duration transfer = is_slow ? faults::TransferTime(result, rate) : Duration::zero();
  const Duration work = std::max(ended - began, transfer);
  const auto percent = static_cast<int>(faults.AmountOr(FaultKind::kDiskContention, 100));
  const Duration lasts = quota_.Spend(began, work, percent);
  const Duration delay(faults.AmountOr(FaultKind::kFsDelay, 0));

  WaitUntil(began + transfer, FaultKind::kDiskSlow);
  WaitUntil(began + lasts, FaultKind::kDiskContention);
  WaitUntil(began + lasts + delay, FaultKind::kFsDelay);
  return result;
}

// Returns early when the fault is over.
void FaultyFileOps::WaitUntil(Time end, FaultKind kind) const {
  for (Time now = clock_.now(); now < end && faults_->At(now).Has(kind); now = clock_.now()) {
    clock_.sleep(std::min(end - now, kPatience));
  }
}

int FaultyFileOps::Open(const std::string& file, bool create) {
  return Slowly([&] { return ops_->Open(file, create); });
}

std::int64_t FaultyFileOps::Size(int fd) {
  return Slowly([&] { return ops_->Size(fd); });
}

ssize_t FaultyFileOps::Read(int fd, char* to, std::size_t bytes, std::uint64_t offset) {
  return Slowly([&] { return ops_->Read(fd, to, bytes, offset); }, true);
}

int FaultyFileOps::SyncDirectory() {
  return Slowly([&] { return ops_->SyncDirectory(); });
}

// ---- slow, and may fail ----

ssize_t FaultyFileOps::Append(int fd, std::span<const iovec> pieces) {
  return Slowly([&] { return AppendInTrouble(fd, pieces, faults_->At(clock_.now())); }, true);
}

int FaultyFileOps::Truncate(int fd, std::uint64_t length) {
  return Change([&] { return ops_->Truncate(fd, length); });
}

int FaultyFileOps::Rename(const std::string& from, const std::string& to) {
  return Change([&] { return ops_->Rename(from, to); });
}

int FaultyFileOps::Remove(const std::string& file) {
  return Change([&] { return ops_->Remove(file); });
}

int FaultyFileOps::Sync(int fd) {
  if (std::exchange(next_sync_fails_, false)) return -EIO;
  return Slowly([&] { return ops_->Sync(fd); });
}

template <typename Operation>
int FaultyFileOps::Change(const Operation& operation) {
  if (DrawsError(faults_->At(clock_.now()))) return -EIO;
  return Slowly(operation);
}

bool FaultyFileOps::DrawsError(const InjectedFaults& faults) {
  const std::int64_t permille = faults.AmountOr(FaultKind::kDiskError, 0);
  return permille > 0 && random_.Below(1000) < static_cast<std::uint64_t>(permille);
}

ssize_t FaultyFileOps::AppendInTrouble(int fd, std::span<const iovec> pieces,
                                       const InjectedFaults& faults) {
  std::int64_t size = 0;
  for (const iovec& piece : pieces) size += static_cast<std::int64_t>(piece.iov_len);
  if (faults.Has(FaultKind::kDiskFull)) {
    const std::int64_t room = faults.AmountOr(FaultKind::kDiskFull, 0) - UsedBytes();
    if (size > room) {
      const auto fits = static_cast<std::size_t>(std::max<std::int64_t>(0, room));
      return AppendPart(fd, pieces, fits, ENOSPC);
    }
  }
  if (!DrawsError(faults)) return ops_->Append(fd, pieces);
  // A short write, or a whole one whose sync fails.
  if (random_.Below(2) == 0) {
    return AppendPart(fd, pieces, random_.Below(static_cast<std::uint64_t>(size) + 1), EIO);
  }
  next_sync_fails_ = true;
  return ops_->Append(fd, pieces);
}

ssize_t FaultyFileOps::AppendPart(int fd, std::span<const iovec> pieces, std::size_t bytes,
                                  int error) {
  std::vector<iovec> part;
  for (iovec piece : pieces) {
    piece.iov_len = std::min(piece.iov_len, bytes);
    bytes -= piece.iov_len;
    if (piece.iov_len > 0) part.push_back(piece);
  }
  if (!part.empty()) std::ignore = ops_->Append(fd, part);  // it fails anyway
  return -error;
}

std::int64_t FaultyFileOps::UsedBytes() const {
  std::uintmax_t bytes = 0;
  std::error_code error;
  std::filesystem::directory_iterator file(directory_, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    std::error_code not_a_file;
    const std::uintmax_t size = file->file_size(not_a_file);
    if (!not_a_file) bytes += size;
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace depfast::real
