// bench_sim: the speed of the simulator, per second of wall time on one core. It counts events,
// sealed crossings and committed operations of the reference Raft, and prints a line of JSON for
// each.
//
// It is apart from framework/bench because the last two run the reference solutions.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "depfast/host/codec.h"
#include "depfast/host/service.h"
#include "raft_checker.h"
#include "sealed/sealed_backend.h"
#include "sim/simulator.h"
#include "sim/step_host.h"
#include "submit_client.h"
#include "testkit/client.h"
#include "testkit/load.h"

namespace depfast {
namespace {

struct Ping {
  using Reply = Ping;
  static constexpr MethodId kMethod = 90;
  static constexpr const char* kName = "Ping";
  std::uint64_t number = 0;
  DEPFAST_FIELDS(number)
};

class EchoService final : public Service {
 public:
  explicit EchoService(Runtime& runtime) : runtime_(runtime) {}
  void Start() override {
    runtime_.rpc().HandleInline<Ping>(
        [](const Ping& ping, const Responder<Ping>& responder) { responder.Send(ping); });
  }

 private:
  Runtime& runtime_;
};

sim::SimOptions Weightless(int replicas, sim::BackendFactory make_backend) {
  sim::SimOptions options;
  options.replicas = replicas;
  options.profile = sim::Profile::Weightless();
  options.make_backend = std::move(make_backend);
  return options;
}

// Runs `simulator` in slices of virtual time until about `kWall` of wall time has passed. Returns
// the growth of `count` per second of wall time.
double PerSecond(sim::Simulator& simulator, const std::function<std::uint64_t()>& count) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kWall = std::chrono::milliseconds(1500);
  simulator.RunFor(20ms);  // everything is warm
  const auto started = Clock::now();
  const std::uint64_t before = count();
  while (Clock::now() - started < kWall) simulator.RunFor(1ms);
  const std::chrono::duration<double> seconds = Clock::now() - started;
  return static_cast<double>(count() - before) / seconds.count();
}

// The best of three: other processes can only make it slower.
double Best(const std::function<double()>& once) {
  constexpr int kRuns = 3;
  double best = 0;
  for (int i = 0; i < kRuns; ++i) best = std::max(best, once());
  return best;
}

void Print(const char* name, double value, const char* unit, double at_least) {
  const nlohmann::ordered_json line = {
      {"name", name}, {"value", value}, {"unit", unit}, {"at_least", at_least}};
  std::cout << line.dump() << std::endl;
}

double EchoEvents() {
  sim::Simulator simulator(Weightless(1, sim::InProcessReplicas([](Runtime& runtime) {
                                        return std::make_unique<EchoService>(runtime);
                                      })));
  simulator.Start();
  testkit::Client client(simulator);
  constexpr int kOutstanding = 64;
  const std::function<void(std::optional<Ping>)> again = [&](const std::optional<Ping>& pong) {
    client.Call(0, Ping{pong ? pong->number + 1 : 0}, kForever, again);
  };
  for (int i = 0; i < kOutstanding; ++i) again(std::nullopt);
  return PerSecond(simulator, [&] { return simulator.events(); });
}

// A Raft under a closed loop of clients. `make_backend` decides where its replicas run.
class RaftLoad {
 public:
  RaftLoad(int replicas, int clients, sim::BackendFactory make_backend)
      : simulator_(Weightless(replicas, std::move(make_backend))),
        client_(simulator_),
        loop_(simulator_, client_.Commands(kCommandBytes), clients, {0s, 0s, kForever}) {
    simulator_.Start();
    while (committed() == 0) simulator_.RunFor(1ms);  // an election, and the first commands
  }

  sim::Simulator& simulator() { return simulator_; }
  std::uint64_t committed() const { return loop_.completed(); }

 private:
  static constexpr std::size_t kCommandBytes = 100;

  sim::Simulator simulator_;
  SubmitClient client_;
  testkit::ClosedLoop loop_;
};

double SealedCrossings(const std::string& replica) {
  constexpr int kReplicas = 3;
  constexpr int kClients = 64;
  RaftLoad load(kReplicas, kClients, sealed::SealedReplicas({.program = replica}));
  return PerSecond(load.simulator(), [&] { return load.simulator().trace().crossings(); });
}

double RaftCommits() {
  constexpr int kReplicas = 5;
  constexpr int kClients = 1024;
  RaftLoad load(kReplicas, kClients, sim::InProcessReplicas(MakeService));
  return PerSecond(load.simulator(), [&] { return load.committed(); });
}

}  // namespace
}  // namespace depfast

// Without arguments all benchmarks run; with one, only that of its name.
int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const auto run = [&only](const char* name, const char* unit, double at_least,
                           const std::function<double()>& once) {
    if (only.empty() || only == name) {
      depfast::Print(name, depfast::Best(once), unit, at_least);
    }
  };
  try {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::string replica = here / "lab2_replica";
    run("echo_events", "events/s", 1e6, depfast::EchoEvents);
    run("sealed_crossings", "crossings/s", 150e3,
        [&] { return depfast::SealedCrossings(replica); });
    run("raft_commits", "operations/s", 200e3, depfast::RaftCommits);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_sim: %s\n", error.what());
    return 2;
  }
}
