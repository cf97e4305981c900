// Starts a child and goes on working; the child outlives every step.
#include <unistd.h>

#include "trouble.h"

namespace {
void StartChild() {
  if (fork() == 0) {
    for (;;) pause();
  }
}
}  // namespace

TROUBLE_REPLICA(StartChild();)
