// The vitals of lab 7 in a running store: faults are found in time, and changing loads are none.
//
// Levels are read from the answers of the health exchange.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "depfast/host/frame.h"
#include "faults.h"
#include "health_messages.h"
#include "onset.h"
#include "profiles.h"
#include "sim/observer.h"
#include "sim/simulator.h"
#include "subject.h"
#include "testkit/environment.h"
#include "testkit/history.h"
#include "testkit/load.h"

namespace depfast::adr {
namespace {

using Bad = std::pair<PeerId, std::string>;  // a replica, and its resource

// When each level was first fatal.
class FatalLevels final : public sim::Observer {
 public:
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId, Time now, const Bytes& frame) override {
    std::string error;
    const auto decoded = DecodeFrame(*frame, error);
    if (stage != sim::FrameStage::kQueued || !decoded) return;
    if (decoded->header.method != AskHealth::kMethod) return;
    if (decoded->header.kind != FrameKind::kReply) return;
    const auto answer = DecodeBody<HealthAnswer>(decoded->body, error);
    if (!answer) return;
    const auto add = [&](Level level, const std::string& resource) {
      if (level == Level::kFatal) first.try_emplace({from, resource}, now);
    };
    add(answer->levels.processor, "processor");
    add(answer->levels.disk, "disk");
    for (const auto& [peer, level] : answer->levels.links) {
      add(level, "link to " + std::to_string(peer));
    }
  }

  std::map<Bad, Time> first;
};

struct Load {
  int percent = 65;  // of the capacity
  int clients = 0;   // in a closed loop; 0: an open one
  bool changes = false;
};

// A store of three replicas in a world, under a load from its first commit on.
class Store {
 public:
  Store(const std::string& world, const Load& load, double capacity, std::uint64_t seed)
      : sim_(OptionsOf(world, seed)), subject_(MeasuredSubjects().at("set")(sim_, history_, 10s)) {
    sim_.AddObserver(&levels_);
    sim_.Start();
    bool committed = false;
    subject_.commands([&committed](bool ok) { committed = ok; });
    while (!committed && sim_.StepUntil(5s)) {
    }
    Begin(load, capacity, seed);
  }

  PeerId leader() const { return subject_.log->Proposers().at(0); }
  void RunFor(Duration duration) { sim_.RunFor(duration); }
  void Begin(const std::string& preset, PeerId victim) {
    sim_.Begin(*measure::FaultOf(preset, {victim}));
  }
  Time now() const { return sim_.now(); }
  const std::map<Bad, Time>& fatal() const { return levels_.first; }

 private:
  static constexpr Duration kLong = 100s;

  static sim::SimOptions OptionsOf(const std::string& world, std::uint64_t seed) {
    sim::SimOptions options;
    options.replicas = 3;
    options.seed = seed;
    options.profile = measure::ProfileOf(world);
    options.make_backend = testkit::ReplicasUnderTest();
    return options;
  }

  void Begin(const Load& load, double capacity, std::uint64_t seed) {
    const testkit::LoadWindow window{sim_.now(), sim_.now(), sim_.now() + kLong};
    const RandomStream arrivals(seed, 0, 900);
    if (load.changes) {
      load_ = std::make_shared<measure::ChangingLoad>(sim_, subject_.commands, capacity, window,
                                                      arrivals);
    } else if (load.clients > 0) {
      load_ = std::make_shared<testkit::ClosedLoop>(sim_, subject_.commands, load.clients, window);
    } else {
      const Duration interval(static_cast<std::int64_t>(1e11 / capacity / load.percent));
      load_ =
          std::make_shared<testkit::OpenLoop>(sim_, subject_.commands, interval, window, arrivals);
    }
  }

  sim::Simulator sim_;
  testkit::History history_;
  FatalLevels levels_;
  const Subject subject_;
  std::shared_ptr<void> load_;
};

void Print(const std::string& title, const Store& store, Time since) {
  std::printf("%-60s leader %d:", title.c_str(), store.leader());
  for (const auto& [bad, at] : store.fatal()) {
    std::printf(" %d %s %.2f", bad.first, bad.second.c_str(),
                static_cast<double>((at - since).count()) / 1e9);
  }
  std::printf("\n");
  std::fflush(stdout);
}

TEST(AdrVitals, Probe) {
  const std::string mode = std::getenv("MODE"), only = std::getenv("WORLD");
  for (const measure::World& world : measure::kWorlds) {
    if (only != world.name && only != "all") continue;
    const double capacity = 2100.0 * 100 / world.cost_percent;
    if (mode == "changing") {
      for (std::uint64_t seed = 1; seed <= 1; ++seed) {
        Store store(world.name, {.changes = true}, capacity, seed);
        store.RunFor(100s);
        Print(std::string(world.name) + " changing " + std::to_string(seed), store, Time{0});
      }
      continue;
    }
    for (const Load& load : {Load{65}, Load{.clients = 8}, Load{20}, Load{.clients = 64}}) {
      if (mode == "two" && (load.percent == 20 || load.clients == 64)) continue;
      for (const char* preset : {"none", "cpu-slow", "cpu-slow-leader", "cpu-contention",
                                 "cpu-contention-leader", "net-slow-10ms", "net-slow-40ms", "net-slow",
                                 "packet-loss-10-percent", "packet-loss-40-percent", "disk-slow"}) {
        Store store(world.name, load, capacity, 1);
        store.RunFor(15300ms);
        const Time since = store.now();
        if (preset != std::string("none")) store.Begin(preset, store.leader());
        store.RunFor(3s);
        Print(std::string(world.name) + " " + std::to_string(load.percent) + "% clients " +
                  std::to_string(load.clients) + " " + preset,
              store, since);
      }
    }
  }
}

}  // namespace
}  // namespace depfast::adr
