#include "real/disk_fault_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace depfast::real {
namespace {

enum Word : std::size_t { kUntil, kDelay, kRate, kShare, kWords };

constexpr std::int64_t kDelayMax = Duration(1h).count();  // fs-delay's

}  // namespace

DiskFaultFile::DiskFaultFile(const std::string& path)
    : file_(Checked(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
                    "cannot make the file of disk faults '" + path + "'")) {}

std::optional<DiskFault> DiskFaultFile::At(Time now) const {
  std::array<std::int64_t, kWords> words;
  if (pread(file_.get(), words.data(), sizeof words, 0) != sizeof words) return std::nullopt;
  if (words[kUntil] <= now.count()) return std::nullopt;
  DiskFault fault;
  if (words[kDelay] > 0 && words[kDelay] <= kDelayMax) fault.delay = Duration(words[kDelay]);
  if (words[kRate] > 0) fault.bytes_per_second = words[kRate];
  if (words[kShare] > 0 && words[kShare] < 100) fault.percent = static_cast<int>(words[kShare]);
  return fault;
}

}  // namespace depfast::real
