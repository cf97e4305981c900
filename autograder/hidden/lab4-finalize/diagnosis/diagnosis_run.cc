#include "diagnosis_run.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "depfast/verify/fact_collector.h"
#include "depfast/verify/unfinished_work.h"
#include "depfast/verify/window_facts.h"
#include "kv_subject.h"
#include "sim/simulator.h"
#include "testkit/environment.h"
#include "testkit/history.h"
#include "testkit/load.h"
#include "testkit/recorder.h"
#include "testkit/verification.h"

namespace depfast::diagnosis {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration kElectionMax = 5s;
constexpr Duration kLoadBegins = 1s;
constexpr Duration kFaultBegins = 2s;
constexpr Duration kDrain = 500ms;  // commands not answered by then are unanswered
// Between two commands: half of the load that a healthy reference executes.
constexpr Duration kInterval = 1ms;
// The slow follower has its processor for this share of the time, in per cent, in bursts: CPU
// contention, as in document 000, section 5.2.1. The load needs about twice this share.
constexpr int kOwnPercent = 6;
constexpr int kSeedsMax = 200;
constexpr Duration kBacklogInterval = 500ms;
constexpr std::uint64_t kArrivals = 910;  // the stream's number

// A world until the election, and what a run needs of it later.
class World : private sim::Observer {
 public:
  World(std::uint64_t seed, const std::string& record)
      : recorder_(testkit::Recorder::IfWanted(record)),
        simulator_(OptionsOf(seed, recorder_.get())),
        verification_(simulator_),
        subject_(kv::KvSubject(5)(simulator_, history_, {kElectionMax})) {
    if (recorder_ != nullptr) recorder_->Watch(simulator_, history_);
    simulator_.AddObserver(this);
    simulator_.Start();
  }

  // The leader that has committed a first command; kNobody after kElectionMax.
  PeerId Elect() {
    bool committed = false;
    subject_.commands([&committed](bool ok) { committed = ok; });
    while (!committed && simulator_.StepUntil(kElectionMax)) {
    }
    const auto proposers = subject_.log->Proposers();
    return committed && !proposers.empty() ? proposers.front() : kNobody;
  }

  Json Run(const RunOptions& options) {
    const testkit::LoadWindow window = {kLoadBegins, kFaultBegins, options.length - kDrain};
    simulator_.RunUntil(std::max(simulator_.now(), kLoadBegins));
    if (options.slow != kNobody) {
      const auto fault = faults::CpuContention({options.slow}, kOwnPercent);
      simulator_.Schedule({fault.From(kFaultBegins)});
    }
    testkit::OpenLoop load(simulator_, subject_.commands, kInterval, window,
                           RandomStream(options.seed, 0, kArrivals));
    Json backlog = RunUntil(window.to, options.leader);
    const std::uint64_t calls = CallsOf(options.leader);
    simulator_.RunUntil(options.length);
    CheckHealth(options.leader);
    verification_.Collect();
    Json json = {{"leader", options.leader}};
    json["slow"] = options.slow == kNobody ? Json() : Json(options.slow);
    json["from_ns"] = window.from.count();
    json["to_ns"] = window.to.count();
    json["clients"] = Clients(load.ResultAt(options.length));
    json["calls"] = calls;
    json["backlog"] = std::move(backlog);
    json.update(Json::parse(verification_.Json()));
    json["own_waits"] = OwnWaits();
    return json;
  }

 private:
  static sim::SimOptions OptionsOf(std::uint64_t seed, RuntimeProbe* recorder) {
    sim::SimOptions options;
    options.replicas = kReplicas;
    options.seed = seed;
    options.profile = sim::Profile::TeachingRealistic();
    options.make_backend = testkit::ReplicasUnderTest(recorder);
    options.probes = {FactCollector::kName, UnfinishedWork::kName};
    return options;
  }

  void OnWorld(Time now, const std::string& what) override { history_.Add(now, what); }

  // Returns the leader's backlog on the way.
  Json RunUntil(Time end, PeerId leader) {
    Json calls = Json::array();
    Json held_bytes = Json::array();
    const Time from = simulator_.now();
    for (Time at = from; at <= end; at += kBacklogInterval) {
      simulator_.RunUntil(at);
      CheckAlive();
      calls.push_back(CallsOf(leader));
      std::size_t bytes = 0;
      for (PeerId peer = 0; peer < kReplicas; ++peer) {
        if (peer != leader) bytes += simulator_.HeldBytes(leader, peer);
      }
      held_bytes.push_back(bytes);
    }
    simulator_.RunUntil(end);
    return {{"from_ns", from.count()},
            {"interval_ns", kBacklogInterval.count()},
            {"calls", calls},
            {"held_bytes", held_bytes}};
  }

  std::uint64_t CallsOf(PeerId replica) {
    const auto rows = UnfinishedWork::Read(simulator_.Report(replica, UnfinishedWork::kName));
    std::uint64_t calls = 0;
    for (const UnfinishedRow& row : rows.value()) {
      if (row.peer != UnfinishedRow::kNoPeer) calls += row.now;
    }
    return calls;
  }

  void CheckAlive() {
    if (!simulator_.first_death().empty()) throw std::runtime_error(simulator_.first_death());
  }

  void CheckHealth(PeerId leader) {
    CheckAlive();
    std::string problem = subject_.log->FirstViolation();
    if (problem.empty()) problem = subject_.untrue();
    if (problem.empty() && subject_.log->Proposers() != std::vector<PeerId>{leader}) {
      problem = "the leader has changed";
    }
    if (!problem.empty()) throw std::runtime_error(problem);
  }

  static Json Clients(const testkit::LoadResult& load) {
    return {{"offered", load.offered},
            {"unanswered", load.unanswered},
            {"mean_ns", load.latencies.Mean().count()},
            {"p50_ns", load.latencies.Percentile(500).count()},
            {"p99_ns", load.latencies.Percentile(990).count()}};
  }

  Json OwnWaits() const {
    struct Row {
      WaitTimes ended;
      std::uint64_t on_path = 0;
    };
    std::map<std::tuple<PeerId, std::string, std::string>, Row> rows;
    for (const WindowFacts& facts : verification_.Facts()) {
      for (const WaitFacts& wait : facts.waits) {
        if (!wait.peers.empty() || wait.ended.count == 0) continue;
        Row& row = rows[{facts.replica, wait.coroutine, wait.event}];
        row.ended.Merge(wait.ended);
        row.on_path += wait.on_path.count;
      }
    }
    Json json = Json::array();
    for (const auto& [key, row] : rows) {
      json.push_back({{"replica", std::get<0>(key)},
                      {"coroutine", std::get<1>(key)},
                      {"event", std::get<2>(key)},
                      {"count", row.ended.count},
                      {"on_path", row.on_path},
                      {"mean_ns", row.ended.mean_ns()},
                      {"worst_ns", row.ended.worst_ns}});
    }
    return json;
  }

  testkit::History history_;
  std::unique_ptr<testkit::Recorder> recorder_;
  sim::Simulator simulator_;
  testkit::Verification verification_;
  Subject subject_;
};

}  // namespace

Json Run(const RunOptions& options) {
  // The seeds of this run, in order, until one elects the leader that is asked for.
  RandomStream seeds(options.seed);
  for (int i = 0; i < kSeedsMax; ++i) {
    const std::uint64_t seed = seeds.Next();
    if (World(seed, "").Elect() != options.leader) continue;
    World world(seed, options.record);
    world.Elect();
    return world.Run(options);
  }
  throw std::runtime_error("no seed elects replica " + std::to_string(options.leader));
}

}  // namespace depfast::diagnosis
