// Writes more errors than the log can take, and goes on working.
#include <cstdio>
#include <string>

#include "trouble.h"

namespace {
void Complain() {
  const std::string line(1000, 'e');
  for (int i = 0; i < 3000; ++i) std::fputs(line.c_str(), stderr);
}
}  // namespace

TROUBLE_REPLICA(Complain();)
