// figures_SYSTEM: runs of the performance figures of document 003 (sections 5.2.1 to 5.4), of five
// replicas. Prints a line of JSON for each seed. The environment's SAUCR_BEAT_US is the interval
// of beats.
//   load:       a closed or an open load, with slow, dead or no followers (figures 7 and 10)
//   failures:   two followers die 500 ms apart, and return (figure 9)
//   correlated: all replicas die in turn (figure 11)
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "faults.h"
#include "saucr_checker.h"
#include "submit_client.h"
#include "systems.h"
#include "testkit/cluster.h"
#include "testkit/load.h"
#include "victims.h"

namespace depfast::saucr {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kReplicas = 5;
constexpr Duration kReady = 20s;        // with beats of 1 s an election takes up to 10 s
constexpr Duration kBeforeWindow = 1s;  // of the load
constexpr Duration kDrain = 500ms;
constexpr Duration kFailureEvery = 500ms;
constexpr Duration kSlot = 10ms;
constexpr std::uint64_t kArrivals = 610;  // the streams' numbers
constexpr std::uint64_t kFirstCrash = 611;

double Microseconds(Duration time) { return static_cast<double>(time / 1ns) / 1000; }

struct Options {
  std::string profile = "slow-disk";
  std::uint64_t seeds = 1;
  int clients = 8;  // in a closed loop, or ...
  double rate = 0;  // ... commands a second in an open loop
  std::size_t bytes = 256;
  int milliseconds = 2000;  // of the window
  std::string fault = "none";
  int victims = 1;  // followers
  int gap_us = 0;
  bool leader_first = false;
};

class World {
 public:
  World(const Options& options, std::uint64_t seed)
      : options_(options),
        seed_(seed),
        cluster_({.replicas = kReplicas, .seed = seed, .profile = ProfileOf(options.profile)}),
        checker_(cluster_.simulator(), &cluster_.history()),
        client_(cluster_.simulator(), {.answer_timeout = kReady, .give_up = kReady}),
        commands_(client_.Commands(options.bytes)) {
    cluster_.Start();
    // Other systems have no fast mode: they serve, and that is enough.
    cluster_.RunUntil([this] { return leader() != kNobody && checker_.Serves(leader()); }, kReady);
    AwaitMode(Mode::kFast, kReady / 10);
  }

  Json Load() {
    if (leader() == kNobody) throw std::runtime_error("no replica leads");
    const std::vector<int> all_places = {1, 2};
    const std::vector<int> places(all_places.begin(), all_places.begin() + options_.victims);
    const auto fault = measure::FaultOf(
        options_.fault, measure::FollowersAt(places, checker_.Proposers(), kReplicas));
    if (fault) cluster_.Begin(*fault);
    const Time from = cluster_.now() + kBeforeWindow;
    const testkit::LoadWindow window = {cluster_.now(), from, from + options_.milliseconds * 1ms};
    std::optional<testkit::ClosedLoop> closed;
    std::optional<testkit::OpenLoop> open;
    if (options_.rate > 0) {
      const Duration interval(static_cast<std::int64_t>(1e9 / options_.rate));
      open.emplace(cluster_.simulator(), commands_, interval, window,
                   RandomStream(seed_, 0, kArrivals));
    } else {
      closed.emplace(cluster_.simulator(), commands_, options_.clients, window);
    }
    cluster_.RunFor(window.from - cluster_.now());
    const auto before = checker_.coverage();
    cluster_.RunFor(window.to - cluster_.now());
    const auto after = checker_.coverage();
    cluster_.RunFor(kDrain);
    const Time end = cluster_.now();
    const auto load = open ? open->ResultAt(end) : closed->ResultAt(end);
    const double seconds = options_.milliseconds / 1000.0;
    return {{"per_second", static_cast<double>(load.completed) / seconds},
            {"mean_us", Microseconds(load.latencies.Mean())},
            {"p99_us", Microseconds(load.latencies.Percentile(990))},
            {"fast", after.fast - before.fast},
            {"slow", after.slow - before.slow},
            {"flushes", after.silences - before.silences}};
  }

  // Times in ms; -1: not within 500 ms. `slots`: the commands of each 10 ms.
  Json Failures() {
    LoadFrom(cluster_.now() + 5 * kFailureEvery);
    cluster_.RunFor(kFailureEvery);  // the load is steady
    const Time begun = cluster_.now();
    const std::vector<PeerId> dead = measure::FollowersAt({1, 2}, checker_.Proposers(), kReplicas);
    cluster_.RunFor(kFailureEvery);
    cluster_.Crash(dead[0]);
    cluster_.RunFor(kFailureEvery);
    cluster_.Crash(dead[1]);
    const double slow_after = AwaitMode(Mode::kSlow, kFailureEvery);
    cluster_.RunFor(begun + 3 * kFailureEvery - cluster_.now());
    cluster_.Heal();
    const double fast_after = AwaitMode(Mode::kFast, kFailureEvery);
    cluster_.RunFor(begun + 4 * kFailureEvery - cluster_.now());
    std::vector<int> slots(static_cast<std::size_t>(4 * kFailureEvery / kSlot));
    for (const Time ended : ended_) {
      const auto slot = static_cast<std::size_t>((ended - begun) / kSlot);
      if (ended >= begun && slot < slots.size()) ++slots[slot];
    }
    return {{"slow_after_ms", slow_after}, {"fast_after_ms", fast_after}, {"slots", slots}};
  }

  // The replicas whose disks had all when they died: their markers say so, and they are true.
  Json Correlated() {
    LoadFrom(cluster_.now() + kReady);
    // Between any two beats.
    RandomStream stream(seed_, 0, kFirstCrash);
    cluster_.RunFor(kFailureEvery + stream.Below(Duration(100ms)));
    std::vector<PeerId> order;
    const PeerId first = leader();
    for (PeerId i = 1; i < kReplicas; ++i) order.push_back((first + i) % kReplicas);
    order.insert(options_.leader_first ? order.begin() : order.end(), first);
    int flushed = 0;
    for (const PeerId id : order) {
      if (id != order.front()) cluster_.RunFor(options_.gap_us * 1us);
      cluster_.Crash(id);
      if (checker_.disk(id).SaysAllIsThere()) ++flushed;
    }
    return {{"flushed", flushed}};
  }

  std::string violation() const { return checker_.FirstSafetyViolation(); }

 private:
  PeerId leader() const { return checker_.Leader(); }

  // Returns the time until then, in ms.
  double AwaitMode(Mode mode, Duration at_most) {
    const Time begun = cluster_.now();
    const bool is_there = cluster_.RunUntil(
        [&] { return leader() != kNobody && checker_.claims(leader()).mode == mode; }, at_most);
    return is_there ? Microseconds(cluster_.now() - begun) / 1000 : -1;
  }

  void LoadFrom(Time until) {
    for (int i = 0; i < options_.clients; ++i) Next(until);
  }

  void Next(Time until) {
    if (cluster_.now() >= until) return;
    commands_([this, until](bool committed) {
      if (committed) ended_.push_back(cluster_.now());
      Next(until);
    });
  }

  const Options options_;
  const std::uint64_t seed_;
  testkit::Cluster cluster_;
  SaucrChecker checker_;
  SubmitClient client_;
  const testkit::Operation commands_;
  std::vector<Time> ended_;
};

}  // namespace
}  // namespace depfast::saucr

int main(int argc, char** argv) {
  using namespace depfast;
  using saucr::World;
  saucr::Options options;
  saucr::Json (World::*measured)() = nullptr;
  CLI::App app("Runs of the performance figures of document 003.");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--profile", options.profile)->check(CLI::IsMember({"slow-disk", "hdd", "ssd"}));
  app.add_option("--seeds", options.seeds, "seeds 1 to this number");
  app.add_option("--clients", options.clients)->check(CLI::Range(1, 1000));
  app.add_option("--bytes", options.bytes, "of a command")->check(CLI::Range(16, 65536));
  auto* const load = app.add_subcommand("load")->callback([&] { measured = &World::Load; });
  load->add_option("--rate", options.rate)->check(CLI::Range(1.0, 1e6));
  load->add_option("--ms", options.milliseconds)->check(CLI::Range(1, 100'000));
  load->add_option("--fault", options.fault)->check(CLI::IsMember(measure::FaultNames()));
  load->add_option("--victims", options.victims)->check(CLI::Range(1, 2));
  app.add_subcommand("failures")->callback([&] { measured = &World::Failures; });
  auto* const deaths =
      app.add_subcommand("correlated")->callback([&] { measured = &World::Correlated; });
  deaths->add_option("--gap-us", options.gap_us)->check(CLI::NonNegativeNumber);
  deaths->add_flag("--leader-first", options.leader_first);
  return saucr::RunProgram(app, argc, argv, [&] {
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
      World world(options, seed);
      saucr::Json line = (world.*measured)();
      line["violation"] = world.violation();
      std::puts(line.dump().c_str());
    }
  });
}
