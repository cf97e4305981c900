// What the simulator says the reference Raft does on a calibrated machine: throughput and latency
// of one load, as one line of JSON with put_load's names.
#include <getopt.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "client_core.h"
#include "depfast/host/service.h"
#include "number_flag.h"
#include "predict_profile.h"
#include "sim/simulator.h"
#include "sim/step_host.h"
#include "submit_client.h"
#include "testkit/load.h"

namespace depfast::predict {
namespace {

constexpr const char* kUsage =
    "usage: predict_raft --profile FILE [--clients N | --rate PUTS_PER_SECOND] [--replicas N] "
    "[--value-bytes N] [--warm-up-ms N] [--window-ms N] [--seed N] [--shared-core] [--shared-disk]";

// put_load's keys are about so long; a command is a key and a value.
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

Flags ParseFlags(int argc, char** argv) {
  enum {
    kProfile,
    kClients,
    kRate,
    kReplicas,
    kValueBytes,
    kWarmUp,
    kWindow,
    kSeed,
    kSharedCore,
    kSharedDisk
  };
  static constexpr option kOptions[] = {{"profile", required_argument, nullptr, kProfile},
                                        {"clients", required_argument, nullptr, kClients},
                                        {"rate", required_argument, nullptr, kRate},
                                        {"replicas", required_argument, nullptr, kReplicas},
                                        {"value-bytes", required_argument, nullptr, kValueBytes},
                                        {"warm-up-ms", required_argument, nullptr, kWarmUp},
                                        {"window-ms", required_argument, nullptr, kWindow},
                                        {"seed", required_argument, nullptr, kSeed},
                                        {"shared-core", no_argument, nullptr, kSharedCore},
                                        {"shared-disk", no_argument, nullptr, kSharedDisk},
                                        {nullptr, 0, nullptr, 0}};
  Flags flags;
  opterr = 0;
  for (int choice = 0; (choice = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    if (choice == '?') throw std::invalid_argument(kUsage);
    const auto number = [&] { return NumberOfFlag(kOptions[choice].name, optarg); };
    if (choice == kProfile) flags.profile = optarg;
    if (choice == kClients) flags.clients = static_cast<int>(number());
    if (choice == kRate) flags.puts_per_second = number();
    if (choice == kReplicas) flags.replicas = static_cast<int>(number());
    if (choice == kValueBytes) flags.value_bytes = static_cast<std::size_t>(number());
    if (choice == kWarmUp) flags.warm_up = std::chrono::milliseconds(number());
    if (choice == kWindow) flags.window = std::chrono::milliseconds(number());
    if (choice == kSeed) flags.seed = static_cast<std::uint64_t>(number());
    if (choice == kSharedCore) flags.shared_core = true;
    if (choice == kSharedDisk) flags.shared_disk = true;
  }
  if (optind != argc || flags.profile.empty()) throw std::invalid_argument(kUsage);
  if (flags.replicas >= kFirstClient) throw std::invalid_argument("--replicas is above 999");
  return flags;
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

// Steps and batches of all replicas: to hold against a real host's counters.
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
      open_.emplace(simulator_, puts, flags_.puts_per_second, window,
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
    if (result().completed == 0) throw std::runtime_error("nothing was committed in the window");
  }

  void Print() const {
    const double seconds = static_cast<double>(flags_.window.count()) / 1e9;
    const auto per_second = [&](std::uint64_t n) { return static_cast<double>(n) / seconds; };
    const auto us = [](Duration time) { return static_cast<double>(time.count()) / 1e3; };
    std::printf(
        "{\"seconds\":%.3f,\"committed\":%llu,\"failed\":%llu,\"puts_per_second\":%.1f,"
        "\"mean_us\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"steps_per_second\":%.1f,"
        "\"batches_per_second\":%.1f}\n",
        seconds, static_cast<unsigned long long>(result().completed),
        static_cast<unsigned long long>(result().failed), per_second(result().completed),
        us(result().latencies.Mean()), us(result().latencies.Percentile(500)),
        us(result().latencies.Percentile(990)), per_second(steps_), per_second(batches_));
  }

 private:
  static constexpr std::uint64_t kArrivals = 77;  // the stream's number

  // Until a first command is committed.
  void Elect() {
    constexpr Time kPatience = 60s;
    bool committed = false;
    while (!committed && simulator_.now() < kPatience) {
      raft_client_.Submit("the first", [&](bool ok) { committed = ok; });
      simulator_.RunFor(10s);
    }
    if (!committed) throw std::runtime_error("no leader within a minute of virtual time");
  }

  const testkit::LoadResult& result() const { return open_ ? open_->result() : closed_->result(); }

  const Flags flags_;
  Counts counts_;
  sim::Simulator simulator_;
  SubmitClient raft_client_;
  ClientCore client_;
  std::optional<testkit::ClosedLoop> closed_;
  std::optional<testkit::OpenLoop> open_;
  std::uint64_t steps_ = 0;    // in the window, of all replicas
  std::uint64_t batches_ = 0;  // of disk operations, likewise
};

}  // namespace
}  // namespace depfast::predict

// Exit status: 0, 1 if nothing could be predicted, 2 for bad usage; with one line that says why.
int main(int argc, char** argv) {
  using namespace depfast::predict;
  try {
    const Flags flags = ParseFlags(argc, argv);
    Prediction prediction(flags, ReadMachine(flags.profile));
    prediction.Run();
    prediction.Print();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "predict_raft: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "predict_raft: %s\n", error.what());
    return 1;
  }
  return 0;
}
