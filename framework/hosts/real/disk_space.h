// HasDiskSpace: whether a disk that was full can be written again.
#pragma once

#include <cstddef>

#include "real/file_ops.h"

namespace depfast::real {

// More than a replica writes between two compactions of its log, so that it is not out of room
// again with its first writes.
inline constexpr std::size_t kRoomBytes = std::size_t{8} << 20;

// Writes a file of kRoomBytes, and removes it. True if both succeeded. The free space that the file
// system reports is not asked: quotas and injected faults do not show in it. The file may stay if
// the process is killed; the next call removes it.
[[nodiscard]] bool HasDiskSpace(FileOps& ops);

}  // namespace depfast::real
