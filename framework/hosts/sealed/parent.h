// A program of tests ends with the grader that has started it, even if that is killed.
#pragma once

#include <cstdlib>
#include <string>

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
#endif

namespace depfast::sealed {

// The environment variable that names the grader's process. Without it this does nothing.
inline constexpr const char* kParent = "FAILSLOW_PARENT";

inline void EndWithParent() {
#ifdef __linux__
  const char* const parent = std::getenv(kParent);
  if (parent == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) std::_Exit(1);  // it was killed before that
  unsetenv(kParent);  // of no use to replicas, and another one in each run
#endif
}

}  // namespace depfast::sealed
