// Recurses until it reaches other memory.
// Stopped-by: crashed
namespace {
int Deeper(volatile int depth) {
  volatile char page[4096] = {};
  return depth + Deeper(depth + 1) + page[0];
}
[[maybe_unused]] const int attack = Deeper(0);
}  // namespace
