#include "real/faulty_file_ops.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

namespace depfast::real {

using faults::FaultKind;

FaultyFileOps::FaultyFileOps(std::unique_ptr<FileOps> ops, std::string directory,
                             std::shared_ptr<const FaultFile> faults, RandomStream random,
                             DiskClock clock)
    : ops_(std::move(ops)),
      directory_(std::move(directory)),
      faults_(std::move(faults)),
      random_(random),
      disk_(faults_, std::move(clock)) {}

// ---- slow ----

template <typename Operation>
auto FaultyFileOps::Slowly(const Operation& operation, bool moves) {
  const Time began = disk_.Now();
  const auto result = operation();
  disk_.Finish(began, moves ? result : 0);
  return result;
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
  return Slowly([&] { return AppendInTrouble(fd, pieces, faults_->At(disk_.Now())); }, true);
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
  if (DrawsError(faults_->At(disk_.Now()))) return -EIO;
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
