// compiler_sandbox: runs a compiler that reads and writes only what a submission's compilation
// needs.
//
//   compiler_sandbox --read PATH... --write PATH... -- COMPILER WORD...
//
// A submission can name any file in an #include or an .incbin, and its author reads the compiler's
// complaint. In the sandbox the compiler cannot open a hidden test, nor another student's file.
// Root gives it a user of its own, who gets the directories to write. A path that does not exist is
// left out. A kernel without Landlock has only the user, and a grader without root only Landlock:
// sandbox_layers tells.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "sealed/sandbox/credentials.h"
#include "sealed/sandbox/limit.h"
#include "sealed/sandbox/path_rules.h"

namespace {

using depfast::sealed::Limit;
using depfast::sealed::PathRight;
using depfast::sealed::PathRules;

constexpr int kCannot = 125;

int Fail(const char* what) {
  std::fprintf(stderr, "compiler_sandbox: %s: %s\n", what, std::strerror(errno));
  return kCannot;
}

// A template bomb ends by these, and no honest submission comes near.
bool SetLimits() {
  constexpr rlim_t kMebibyte = rlim_t{1} << 20;
  return Limit(RLIMIT_CORE, 0) && Limit(RLIMIT_CPU, 280) && Limit(RLIMIT_AS, 2048 * kMebibyte) &&
         Limit(RLIMIT_FSIZE, 256 * kMebibyte) && Limit(RLIMIT_NOFILE, 256) &&
         Limit(RLIMIT_MEMLOCK, 0) && Limit(RLIMIT_MSGQUEUE, 0);
}

bool IsDirectory(const char* path) {
  struct stat status{};
  return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// Renounces root, if this is root: the directories are the new user's then. A machine that has no
// other users leaves everything as it is.
void BecomeOwnUser(const std::vector<const char*>& directories) {
  constexpr unsigned kProcessesMax = 64;
  const uid_t user = depfast::sealed::DrawOwnUser();
  const auto give_to = [&directories](uid_t to) {
    return std::ranges::all_of(directories,
                               [to](const char* path) { return lchown(path, to, to) == 0; });
  };
  if (geteuid() != 0 || user == 0 || !give_to(user)) return;
  depfast::sealed::DropCapabilities();
  if (!depfast::sealed::BecomeOwnUser(user, kProcessesMax)) give_to(0);
}

}  // namespace

int main(int count, char** words) {
  PathRules rules;
  std::vector<const char*> own;
  PathRight right = PathRight::kReadAndExecute;  // the compiler's own programs are read, too
  char** word = words + 1;
  for (; word < words + count && std::string_view(*word) != "--"; ++word) {
    if (std::string_view(*word) == "--read") {
      right = PathRight::kReadAndExecute;
    } else if (std::string_view(*word) == "--write") {
      right = PathRight::kReadAndWrite;
    } else if (const int path = open(*word, O_PATH | O_CLOEXEC); path >= 0) {
      rules.Allow(path, right);
      close(path);
      if (right == PathRight::kReadAndWrite && IsDirectory(*word)) own.push_back(*word);
    }
  }
  if (word + 1 >= words + count) {
    std::fputs("usage: compiler_sandbox --read PATH... --write PATH... -- COMPILER WORD...\n",
               stderr);
    return kCannot;
  }
  depfast::sealed::EndFirstWithoutMemory();
  BecomeOwnUser(own);
  if (!SetLimits()) return Fail("cannot limit itself");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Fail("cannot renounce privileges");
  if (rules.available() && !rules.Enforce()) return Fail("cannot build its sandbox");
  execvp(word[1], word + 1);
  return Fail(word[1]);
}
