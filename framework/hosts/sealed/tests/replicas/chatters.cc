// Prints far more than anybody keeps and goes on working; the second time it dies of it.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "trouble.h"

namespace {
void Chatter() {
  static bool again = false;
  const std::string line(1000, 'z');
  if (again) std::fputs("these are my last words\n", stderr);
  for (int i = 0; i < 3000; ++i) std::puts(line.c_str());
  std::fflush(stdout);
  if (again) _exit(4);
  again = true;
}
}  // namespace

TROUBLE_REPLICA(Chatter();)
