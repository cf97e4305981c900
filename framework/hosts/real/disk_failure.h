// DiskFailure: the operation that broke a replica's disk, in words for its operator.
#pragma once

#include <cstdint>
#include <string>

namespace depfast::real {

enum class DiskOperation : std::uint8_t {
  kOpen,
  kCreate,
  kRead,
  kWrite,
  kSync,
  kTruncate,
  kRename,
  kRemove,
};

struct DiskFailure {
  DiskOperation operation = DiskOperation::kWrite;
  std::string file;
  int error = 0;  // an errno
};

// "cannot write store.log: No space left on device".
std::string ToString(const DiskFailure& failure);

// Whether the replica may start again from its files, in this process, once the disk has room. Then
// the files are as a crash would have left them, and everything in them can still be synced.
// Not so after a failed sync: the kernel may have dropped the pages, and a later sync would succeed
// without them. Not so after any other error: nothing tells when it is over.
bool EndsWithRoom(const DiskFailure& failure);

}  // namespace depfast::real
