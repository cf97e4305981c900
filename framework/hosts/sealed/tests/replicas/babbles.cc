// Writes what no protocol knows to the simulator.
#include <unistd.h>

#include <string>

#include "trouble.h"

namespace {
void Write(const std::string& bytes) {
  [[maybe_unused]] const auto written = write(4, bytes.data(), bytes.size());
}
}  // namespace

TROUBLE_REPLICA(Write(std::string("\x05\0\0\0hello", 9));)
