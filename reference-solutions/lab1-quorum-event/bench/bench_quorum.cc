// The cost of a wait for a quorum of five children that three of them decide.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>

#include "depfast/host/hosted_runtime.h"
#include "depfast/value_event.h"
#include "idle_host.h"
#include "quorum_event.h"

namespace depfast {
namespace {

constexpr int kVoters = 5;
constexpr int kMajority = kVoters / 2 + 1;

// One iteration: the waiter makes a quorum and waits; the other coroutine, which runs then, lets
// three children be ready.
void QuorumOfFive(benchmark::State& state) {
  IdleHost host;
  HostedRuntime runtime(host, {});
  std::array<std::shared_ptr<IntEvent>, kVoters> children;
  bool stop = false;
  runtime.Spawn("waiter", [&] {
    for (auto _ : state) {
      const auto quorum = QuorumEvent::Majority(kVoters);
      for (auto& child : children) {
        child = std::make_shared<IntEvent>("vote", 1);
        quorum->Add(child);
      }
      if (quorum->Wait() != Outcome::kReady) state.SkipWithError("no quorum");
    }
    stop = true;
  });
  runtime.Spawn("voters", [&] {
    while (!stop) {  // the waiter sets it, while this yields
      for (int i = 0; i < kMajority; ++i) children[static_cast<std::size_t>(i)]->Add();
      runtime.Yield();
    }
  });
  while (!stop) runtime.Run();
}
BENCHMARK(QuorumOfFive)->Name("quorum_of_5")->Iterations(1'000'000);

}  // namespace
}  // namespace depfast

BENCHMARK_MAIN();
