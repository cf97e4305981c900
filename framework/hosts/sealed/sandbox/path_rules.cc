#include "sealed/sandbox/path_rules.h"

#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace depfast::sealed {
namespace {

// The rights of Landlock's first version, which every version knows. Later ones are of files that
// are open already, and of sockets.
constexpr std::uint64_t kAll = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

constexpr std::uint64_t kOfFiles =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;

std::uint64_t AccessOf(PathRight right) {
  constexpr std::uint64_t kReads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  if (right == PathRight::kReadAndExecute) return kReads | LANDLOCK_ACCESS_FS_EXECUTE;
  return kReads | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
         LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
         LANDLOCK_ACCESS_FS_REMOVE_DIR;
}

int MakeRules() {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = kAll;
  return static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
}

}  // namespace

PathRules::PathRules() : rules_(MakeRules()) {}

PathRules::~PathRules() {
  if (rules_ >= 0) close(rules_);
}

void PathRules::Allow(int path, PathRight right) {
  struct stat status{};
  landlock_path_beneath_attr rule{};
  rule.parent_fd = path;
  rule.allowed_access = AccessOf(right);
  if (fstat(path, &status) != 0) refused_ = true;
  if (!S_ISDIR(status.st_mode)) rule.allowed_access &= kOfFiles;  // the kernel insists
  const long added = syscall(SYS_landlock_add_rule, rules_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  if (added != 0) refused_ = true;
}

bool PathRules::Enforce() {
  return rules_ >= 0 && !refused_ && syscall(SYS_landlock_restrict_self, rules_, 0) == 0;
}

}  // namespace depfast::sealed
