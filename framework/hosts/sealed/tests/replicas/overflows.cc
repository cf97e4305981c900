// Recurses until its coroutine's stack ends.
#include "trouble.h"

namespace {
volatile int depth_max = 1'000'000'000;

int Dig(int depth) {
  volatile char room[512] = {};
  if (depth >= depth_max) return room[0];
  return Dig(depth + 1) + room[1];
}
}  // namespace

TROUBLE_REPLICA(Dig(0);)
