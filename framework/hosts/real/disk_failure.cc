#include "real/disk_failure.h"

#include <cerrno>
#include <system_error>

namespace depfast::real {
namespace {

const char* Verb(DiskOperation operation) {
  switch (operation) {
    case DiskOperation::kOpen:
      return "open";
    case DiskOperation::kCreate:
      return "create";
    case DiskOperation::kRead:
      return "read";
    case DiskOperation::kWrite:
      return "write";
    case DiskOperation::kSync:
      return "sync";
    case DiskOperation::kTruncate:
      return "truncate";
    case DiskOperation::kRename:
      return "rename";
    case DiskOperation::kRemove:
      return "remove";
  }
  return "use";
}

}  // namespace

std::string ToString(const DiskFailure& failure) {
  return std::string("cannot ") + Verb(failure.operation) + " " + failure.file + ": " +
         std::generic_category().message(failure.error);
}

bool EndsWithRoom(const DiskFailure& failure) {
  const bool lacks_room = failure.error == ENOSPC || failure.error == EDQUOT;
  return lacks_room && failure.operation != DiskOperation::kSync;
}

}  // namespace depfast::real
