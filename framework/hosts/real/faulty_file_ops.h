// SlowFileOps: FileOps that take as long as on a slow disk, while there is a fault.
//
// The disk thread waits after each operation, so group commit sees a slow disk as it would see a
// real one. The amounts mean what they mean in the simulator.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "depfast/time.h"
#include "faults/quota.h"
#include "real/disk_fault_file.h"
#include "real/file_ops.h"

namespace depfast::real {

// The time that the thread sees and spends; tests have their own.
struct DiskClock {
  std::function<Time()> now;
  std::function<void(Duration)> sleep;
};

// CLOCK_MONOTONIC.
DiskClock RealDiskClock();

class SlowFileOps final : public FileOps {
 public:
  // A wait looks so often whether the fault is over.
  static constexpr Duration kPatience = 10ms;

  SlowFileOps(std::unique_ptr<FileOps> ops, std::unique_ptr<DiskFaultFile> faults,
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
  // Does an operation. It moves as many bytes as it returns if `moves`.
  template <typename Operation>
  auto Slowly(const Operation& operation, bool moves = false);
  void WaitUntil(Time end) const;

  std::unique_ptr<FileOps> ops_;
  std::unique_ptr<DiskFaultFile> faults_;
  DiskClock clock_;
  faults::Quota quota_;
};

}  // namespace depfast::real
