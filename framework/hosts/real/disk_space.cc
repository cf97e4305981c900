#include "real/disk_space.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace depfast::real {
namespace {

constexpr const char* kTrialFile = "room.trial";

bool WriteAll(FileOps& ops, int fd) {
  std::string zeros(std::size_t{1} << 20, '\0');
  for (std::size_t written = 0; written < kRoomBytes;) {
    const iovec piece{zeros.data(), std::min(zeros.size(), kRoomBytes - written)};
    const ssize_t now = ops.Append(fd, {&piece, 1});
    if (now <= 0 && now != -EINTR) return false;
    if (now > 0) written += static_cast<std::size_t>(now);
  }
  return true;
}

// A missing file is removed, too.
bool Remove(FileOps& ops) {
  const int error = -ops.Remove(kTrialFile);
  return error == 0 || error == ENOENT;
}

}  // namespace

bool HasDiskSpace(FileOps& ops) {
  if (!Remove(ops)) return false;
  const int fd = ops.Open(kTrialFile, /*create=*/true);
  if (fd < 0) return false;
  const bool written = WriteAll(ops, fd);
  ops.Close(fd);
  return Remove(ops) && written;
}

}  // namespace depfast::real
