// Leaves a child behind that keeps everything open, and dies.
#include <unistd.h>

#include "trouble.h"

namespace {
void LeaveChild() {
  if (fork() == 0) {
    for (;;) pause();
  }
  _exit(5);
}
}  // namespace

TROUBLE_REPLICA(LeaveChild();)
