// FaultyFileOps: FileOps that are slow or fail, while another process injects a fault of the disk.
//
// The disk thread waits after each operation, so group commit sees a slow disk as it would see a
// real one.
#pragma once

#include <memory>
#include <string>

#include "depfast/host/random.h"
#include "depfast/time.h"
#include "real/fault_file.h"
#include "real/file_ops.h"
#include "real/slow_disk.h"

namespace depfast::real {

class FaultyFileOps final : public FileOps {
 public:
  // `ops` work in `directory`. `random` decides which operations fail.
  FaultyFileOps(std::unique_ptr<FileOps> ops, std::string directory,
                std::shared_ptr<const FaultFile> faults, RandomStream random,
                DiskClock clock = RealDiskClock());

  int Open(const std::string& file, bool create) override;
  void Close(int fd) override { ops_->Close(fd); }
  std::int64_t Size(int fd) override;
  ssize_t Append(int fd, std::span<const iovec> pieces) override;
  ssize_t Read(int fd, char* to, std::size_t bytes, std::uint64_t offset) override;
  int Truncate(int fd, std::uint64_t length) override;
  int Sync(int fd) override;
  int Rename(const std::string& from, const std::string& to) override;
  int Remove(const std::string& file) override;
  int SyncDirectory() override;

 private:
  // Does an operation, and makes it last the time that the faults say. If `moves`, the operation's
  // result is the number of bytes that it has moved.
  template <typename Operation>
  auto Slowly(const Operation& operation, bool moves = false);
  // Runs an operation slowly; a disk-error may fail it instead.
  template <typename Operation>
  int Change(const Operation& operation);

  bool DrawsError(const InjectedFaults& faults);
  std::int64_t UsedBytes() const;
  ssize_t AppendInTrouble(int fd, std::span<const iovec> pieces, const InjectedFaults& faults);
  // Writes only the first bytes of an append, and returns the negated `error`.
  ssize_t AppendPart(int fd, std::span<const iovec> pieces, std::size_t bytes, int error);

  std::unique_ptr<FileOps> ops_;
  const std::string directory_;
  std::shared_ptr<const FaultFile> faults_;
  RandomStream random_;
  SlowDisk disk_;
  bool next_sync_fails_ = false;
};

}  // namespace depfast::real
