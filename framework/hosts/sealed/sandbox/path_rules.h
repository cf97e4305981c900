// PathRules: the paths that a process may still open (Landlock, Linux 5.13).
#pragma once

namespace depfast::sealed {

// The rights of a process to a file, or to all files of a directory.
enum class PathRight {
  kReadAndExecute,
  kReadAndWrite,  // and make, and remove
};

// Makes only system calls.
class PathRules {
 public:
  PathRules();
  ~PathRules();
  PathRules(const PathRules&) = delete;
  PathRules& operator=(const PathRules&) = delete;

  // Whether the kernel has Landlock.
  bool available() const { return rules_ >= 0; }

  // `path`: a descriptor, of a file or of a directory with all that is below it. May be O_PATH.
  void Allow(int path, PathRight right);

  // From now on this process and its children open nothing else. False if the kernel has no
  // Landlock, or a rule was refused. Requires: PR_SET_NO_NEW_PRIVS is set.
  bool Enforce();

 private:
  int rules_;
  bool refused_ = false;
};

}  // namespace depfast::sealed
