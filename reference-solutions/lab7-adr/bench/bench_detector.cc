// The cost of an update of the detector, by the length of its windows.
#include <benchmark/benchmark.h>

#include <cstddef>

#include "adaptive_threshold.h"
#include "depfast/host/random.h"

namespace depfast::adr {
namespace {

// Both windows are full, and nothing is slow: each update pushes one value out of each.
void Update(benchmark::State& state) {
  const auto length = static_cast<std::size_t>(state.range(0));
  AdaptiveThreshold detector({.window_max = length});
  const Duration gap = kSecond / (2 * state.range(0));
  RandomStream random(1);
  Time now{};
  const auto update = [&] { return detector.IsWarn(now += gap, random.Below(1ms), 1s); };
  for (std::size_t i = 0; i < 5 * length; ++i) update();
  for (auto _ : state) benchmark::DoNotOptimize(update());
  if (detector.resets() > 0) state.SkipWithError("a reset");
}
BENCHMARK(Update)->Name("update")->Arg(80)->Arg(8000);

}  // namespace
}  // namespace depfast::adr

BENCHMARK_MAIN();
