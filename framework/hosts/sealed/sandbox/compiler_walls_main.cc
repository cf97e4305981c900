// compiler_walls: runs a compiler that reads and writes only what a submission's compilation needs.
//
//   compiler_walls --read PATH... --write PATH... -- COMPILER WORD...
//
// A submission can name any file in an #include or an .incbin, and its author reads the compiler's
// complaint. Behind these walls the compiler cannot open a hidden test, nor another student's file.
// A path that does not exist is left out. A kernel without Landlock has no such walls: sealed_walls
// tells.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "sealed/sandbox/limit.h"
#include "sealed/sandbox/path_rules.h"

namespace {

using depfast::sealed::Limit;
using depfast::sealed::PathRight;
using depfast::sealed::PathRules;

constexpr int kCannot = 125;

int Fail(const char* what) {
  std::fprintf(stderr, "compiler_walls: %s: %s\n", what, std::strerror(errno));
  return kCannot;
}

// A template bomb ends by these, and no honest submission comes near.
bool SetLimits() {
  constexpr rlim_t kMebibyte = rlim_t{1} << 20;
  return Limit(RLIMIT_CORE, 0) && Limit(RLIMIT_CPU, 280) && Limit(RLIMIT_AS, 4096 * kMebibyte) &&
         Limit(RLIMIT_FSIZE, 256 * kMebibyte);
}

}  // namespace

int main(int count, char** words) {
  PathRules rules;
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
    }
  }
  if (word + 1 >= words + count) {
    std::fputs("usage: compiler_walls --read PATH... --write PATH... -- COMPILER WORD...\n",
               stderr);
    return kCannot;
  }
  if (!SetLimits()) return Fail("cannot limit itself");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Fail("cannot renounce privileges");
  if (rules.available() && !rules.Enforce()) return Fail("cannot build its walls");
  execvp(word[1], word + 1);
  return Fail(word[1]);
}
