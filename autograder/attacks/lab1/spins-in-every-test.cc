// Computes for ever in each step, so that the grading never ends.
// Stopped-by: it never waits
namespace {

[[maybe_unused]] const bool attack = [] {
  static volatile bool for_ever = true;
  while (for_ever) {
  }
  return true;
}();

}  // namespace
