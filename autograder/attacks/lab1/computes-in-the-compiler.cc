// Lets the compiler compute for hours.
// Stopped-by: does not compile
namespace {
template <int kDepth, int kWay>
struct Grows {
  static constexpr long kValue =
      Grows<kDepth - 1, 2 * kWay>::kValue + Grows<kDepth - 1, 2 * kWay + 1>::kValue;
};
template <int kWay>
struct Grows<0, kWay> {
  static constexpr long kValue = kWay;
};
[[maybe_unused]] constexpr long kAttack = Grows<28, 1>::kValue;
}  // namespace
