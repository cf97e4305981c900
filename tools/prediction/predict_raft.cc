// predict_raft: simulates the reference Raft on a calibrated machine. It prints throughput and
// latency of one load as one line of JSON, with the names that put_load uses.
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "client_core.h"
#include "depfast/host/service.h"
#include "predict_profile.h"
#include "program.h"
#include "sim/simulator.h"
#include "sim/step_host.h"
#include "submit_client.h"
#include "testkit/load.h"

namespace depfast::predict {
namespace {

// About the length of put_load's keys. A command is a key and a value.
constexpr std::size_t kKeyBytes = 8;

struct Flags {
  std::string profile;
  int clients = 1;
  std::int64_t puts_per_second = 0;  // above 0: an open loop
  int replicas = 3;
  std::size_t value_bytes = 256;
  Duration warm_up = 500ms;
  Duration window = 2s;
  std::uint64_t seed = 1;
  bool shared_core = false;
  bool shared_disk = false;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("--profile", flags.profile, "the machine, calibrated")->required();
  app.add_option("--clients", flags.clients, "of a closed loop")->check(kPositive);
  app.add_option("--rate", flags.puts_per_second, "puts a second of an open loop instead")
      ->check(kPositive);
  app.add_option("--replicas", flags.replicas, "how many")->check(CLI::Range(1, kFirstClient - 1));
  app.add_option("--value-bytes", flags.value_bytes, "of each put")->check(kPositive);
  AddMilliseconds(app, "--warm-up-ms", flags.warm_up, "before the window");
  AddMilliseconds(app, "--window-ms", flags.window, "that is measured");
  app.add_option("--seed", flags.seed, "of the simulation")->check(kPositive);
  app.add_flag("--shared-core", flags.shared_core, "the replicas have one core");
  app.add_flag("--shared-disk", flags.shared_disk, "the replicas have one disk");
}

sim::SimOptions OptionsOf(const Flags& flags, const sim::Profile& profile) {
  sim::SimOptions options;
  options.replicas = flags.replicas;
  options.seed = flags.seed;
  options.profile = profile;
  options.make_backend = sim::InProcessReplicas(MakeService);
  std::vector<PeerId> all(static_cast<std::size_t>(flags.replicas));
  std::iota(all.begin(), all.end(), 0);
  if (flags.shared_core) options.sharing.cpu_groups = {all};
  if (flags.shared_disk) options.sharing.disk_groups = {all};
  return options;
}

// Counts steps and batches of all replicas, for comparison with a real host's counters.
class Counts : public sim::Observer {
 public:
  void OnStep(PeerId, const sim::StepInput&, const sim::StepOutput&) override { ++steps; }
  void OnDisk(PeerId, Time, const sim::SimDisk&) override { ++batches; }
  std::uint64_t steps = 0;
  std::uint64_t batches = 0;
};

class Prediction {
 public:
  Prediction(const Flags& flags, const Machine& machine)
      : flags_(flags),
        simulator_(OptionsOf(flags, machine.profile)),
        raft_client_(simulator_),
        client_(simulator_, machine.client, raft_client_.Commands(flags.value_bytes + kKeyBytes)) {
    simulator_.AddObserver(&counts_);
  }

  void Run() {
    simulator_.Start();
    Elect();
    const Time start = simulator_.now();
    const testkit::LoadWindow window{start, start + flags_.warm_up,
                                     start + flags_.warm_up + flags_.window};
    const auto puts = client_.Operations();
    if (flags_.puts_per_second > 0) {
      open_.emplace(simulator_, puts, Duration(1'000'000'000 / flags_.puts_per_second), window,
                    RandomStream(flags_.seed, 0, kArrivals));
    } else {
      closed_.emplace(simulator_, puts, flags_.clients, window);
    }
    simulator_.RunUntil(window.from);
    const Counts before = counts_;
    simulator_.RunUntil(window.to);
    steps_ = counts_.steps - before.steps;
    batches_ = counts_.batches - before.batches;
    if (!simulator_.first_death().empty()) throw std::runtime_error(simulator_.first_death());
    simulator_.RunFor(kDrain);
    result_ = open_ ? open_->ResultAt(simulator_.now()) : closed_->ResultAt(simulator_.now());
    if (result_.completed == 0) throw std::runtime_error("nothing was committed in the window");
  }

  Json Described() const {
    const double seconds = static_cast<double>(flags_.window.count()) / 1e9;
    const auto per_second = [&](std::uint64_t n) { return static_cast<double>(n) / seconds; };
    const auto us = [](Duration time) { return static_cast<double>(time.count()) / 1e3; };
    return {{"seconds", seconds},
            {"committed", result_.completed},
            {"failed", result_.unanswered},
            {"puts_per_second", per_second(result_.completed)},
            {"mean_us", us(result_.latencies.Mean())},
            {"p50_us", us(result_.latencies.Percentile(500))},
            {"p99_us", us(result_.latencies.Percentile(990))},
            {"steps_per_second", per_second(steps_)},
            {"batches_per_second", per_second(batches_)}};
  }

 private:
  static constexpr std::uint64_t kArrivals = 77;  // the stream's number
  static constexpr Duration kDrain = 1s;          // after the window, for the last answers

  // Runs until a first command is committed.
  void Elect() {
    constexpr Time kPatience = 60s;
    bool committed = false;
    while (!committed && simulator_.now() < kPatience) {
      raft_client_.Submit("the first", [&](bool ok) { committed = ok; });
      simulator_.RunFor(10s);
    }
    if (!committed) throw std::runtime_error("no leader within a minute of virtual time");
  }

  const Flags flags_;
  Counts counts_;
  sim::Simulator simulator_;
  SubmitClient raft_client_;
  ClientCore client_;
  std::optional<testkit::ClosedLoop> closed_;
  std::optional<testkit::OpenLoop> open_;
  testkit::LoadResult result_;
  std::uint64_t steps_ = 0;    // in the window, of all replicas
  std::uint64_t batches_ = 0;  // of disk operations, likewise
};

}  // namespace
}  // namespace depfast::predict

int main(int argc, char** argv) {
  using namespace depfast::predict;
  Flags flags;
  CLI::App app("Predicts the performance of the reference Raft on a calibrated machine.",
               "predict_raft");
  AddFlags(app, flags);
  return depfast::RunProgram(app, argc, argv, [&] {
    Prediction prediction(flags, ReadMachine(flags.profile));
    prediction.Run();
    return prediction.Described();
  });
}
