#include "sealed/sandbox/credentials.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "sealed/sandbox/limit.h"

namespace depfast::sealed {

uid_t DrawOwnUser() {
  constexpr uid_t kFirst = 20'000;
  constexpr uid_t kCount = 40'000;
  unsigned draw = 0;
  if (getrandom(&draw, sizeof draw, 0) != sizeof draw) return 0;
  return kFirst + draw % kCount;
}

bool BecomeOwnUser(uid_t user, unsigned processes_max) {
  if (user == 0 || syscall(SYS_setgroups, 0, nullptr) != 0 ||
      syscall(SYS_setresgid, user, user, user) != 0 ||
      syscall(SYS_setresuid, user, user, user) != 0) {
    return false;
  }
  return Limit(RLIMIT_NPROC, processes_max);
}

bool DropCapabilities() {
  for (unsigned long each = 0; each <= CAP_LAST_CAP; ++each) {
    if (prctl(PR_CAPBSET_READ, each, 0, 0, 0) == 1 && prctl(PR_CAPBSET_DROP, each, 0, 0, 0) != 0) {
      return false;
    }
  }
  return true;
}

void EndFirstWithoutMemory() {
  constexpr std::string_view kMost = "1000";
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  [[maybe_unused]] const auto written = write(score, kMost.data(), kMost.size());
  close(score);
}

}  // namespace depfast::sealed
