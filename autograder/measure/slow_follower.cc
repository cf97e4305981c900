// One run of the slow-follower measurement: a Raft under load, with a minority of its followers
// slow, dead, or fine. Prints one line of JSON; what it means is decided elsewhere.
//
// Runs with equal seeds are pairs: they are the same run until the fault begins, so they have the
// same leader, the same arrivals, and differ by the fault alone.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "depfast/verify/wait_statistics.h"
#include "raft_checker.h"
#include "raft_client.h"
#include "sealed/sealed_backend.h"
#include "sim/simulator.h"
#include "testkit/history.h"
#include "testkit/json.h"
#include "testkit/load.h"

namespace depfast {
namespace {

// The shape of a run, in virtual time.
constexpr Duration kElectionMax = 5s;
constexpr Duration kBeforeFault = 200ms;  // from the election to the fault
constexpr Duration kWarmUp = 600ms;       // load and fault are on, nothing is measured yet
constexpr Duration kMeasured = 1500ms;
constexpr Duration kDrain = 500ms;  // answers still count as answered
constexpr Duration kCatchUpMax = 10s;

constexpr std::size_t kCommandBytes = 256;
constexpr int kClosedLoopClients = 256;  // to find the capacity
constexpr int kLatencyLoadPercent = 65;
constexpr int kSaturatedLoadPercent = 120;

struct Arguments {
  std::string replica;
  int replicas = 3;
  std::uint64_t seed = 1;
  std::string profile = "low-jitter";
  std::string fault = "none";
  std::string load = "latency";
  double capacity = 0;   // operations per second; for all loads but `capacity`
  bool explain = false;  // add the leader's waits to the JSON
  bool history = false;  // print the numbered history to stderr
};

[[noreturn]] void Refuse(const std::string& why) { throw std::invalid_argument(why); }

double ParsePositive(const std::string& name, const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !(number > 0)) {
    Refuse(name + " takes a positive number, not '" + value + "'");
  }
  return number;
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--replica") {
      arguments.replica = value;
    } else if (name == "--replicas") {
      arguments.replicas = static_cast<int>(ParsePositive(name, value));
    } else if (name == "--seed") {
      arguments.seed = static_cast<std::uint64_t>(ParsePositive(name, value));
    } else if (name == "--profile") {
      arguments.profile = value;
    } else if (name == "--fault") {
      arguments.fault = value;
    } else if (name == "--load") {
      arguments.load = value;
    } else if (name == "--capacity") {
      arguments.capacity = ParsePositive(name, value);
    } else if (name == "--history") {
      arguments.history = true;
    } else if (name == "--explain") {
      arguments.explain = true;
    } else {
      Refuse("unknown flag '" + argument + "'");
    }
  }
  if (arguments.replica.empty()) Refuse("--replica=PATH is missing");
  if (arguments.replicas < 3 || arguments.replicas > 9) Refuse("--replicas takes 3 to 9");
  if (arguments.load != "capacity" && arguments.capacity <= 0) Refuse("--capacity is missing");
  return arguments;
}

sim::Profile ProfileOf(const std::string& name) {
  if (name == "low-jitter") return sim::Profile::TeachingLowJitter();
  if (name == "realistic") return sim::Profile::TeachingRealistic();
  Refuse("unknown profile '" + name + "'");
}

std::optional<faults::Fault> FaultOf(const std::string& name, std::vector<PeerId> victims) {
  if (name == "none") return std::nullopt;
  if (name == "dead") return faults::CrashFault(std::move(victims));
  const faults::Preset* preset = faults::FindPreset(name);
  if (preset == nullptr) Refuse("unknown fault '" + name + "'");
  return faults::MakeFault(preset->strength, std::move(victims));
}

class Measurement : private sim::Observer {
 public:
  explicit Measurement(const Arguments& arguments)
      : arguments_(arguments),
        simulator_(OptionsOf(arguments)),
        checker_(simulator_, &history_),
        client_(simulator_, {.answer_timeout = kMeasured + kWarmUp + kDrain}) {}

  // Returns the run's JSON line.
  std::string Run() {
    FaultOf(arguments_.fault, {});  // an unknown name is refused before anything runs
    simulator_.AddObserver(this);
    simulator_.Start();
    if (!Elect()) return Json("no leader has committed a command within 5 s");
    const PeerId leader = checker_.Leader();
    simulator_.RunFor(kBeforeFault);
    const auto fault = FaultOf(arguments_.fault, Victims(leader));
    if (fault) simulator_.Begin(*fault);
    StartLoad();
    simulator_.RunUntil(window_.from);
    simulator_.ResetPeaks();
    simulator_.RunUntil(window_.to);
    peak_held_ = simulator_.IsUp(leader) ? simulator_.PeakHeldBytes(leader) : 0;
    if (arguments_.explain) CollectWaits(leader);
    simulator_.HealAll();
    MeasureCatchUp();
    if (arguments_.history) std::fputs(history_.All().c_str(), stderr);
    return Json(Problem());
  }

 private:
  void OnWorld(Time now, const std::string& what) override { history_.Add(now, what); }

  static sim::SimOptions OptionsOf(const Arguments& arguments) {
    sim::SimOptions options;
    options.replicas = arguments.replicas;
    options.seed = arguments.seed;
    options.profile = ProfileOf(arguments.profile);
    options.make_backend = sealed::SealedReplicas({.program = arguments.replica});
    if (arguments.explain) options.probes = {WaitStatistics::kName};
    return options;
  }

  // Runs until a leader has committed a command of ours: then the client knows it, too, and asks no
  // replica that is about to become slow.
  bool Elect() {
    bool committed = false;
    client_.Submit("hello", [&committed](bool ok) { committed = ok; });
    while (!committed && simulator_.StepUntil(kElectionMax)) {
    }
    return committed && checker_.Leader() != raft::kNobody;
  }

  // The largest minority, beginning after the leader.
  std::vector<PeerId> Victims(PeerId leader) const {
    std::vector<PeerId> victims;
    for (int i = 1; i <= (arguments_.replicas - 1) / 2; ++i) {
      victims.push_back((leader + i) % arguments_.replicas);
    }
    return victims;
  }

  void StartLoad() {
    const Time start = simulator_.now();
    window_ = {start, start + kWarmUp, start + kWarmUp + kMeasured};
    const auto commands = client_.Commands(kCommandBytes);
    if (arguments_.load == "capacity") {
      closed_.emplace(simulator_, commands, kClosedLoopClients, window_);
      return;
    }
    int percent = 0;
    if (arguments_.load == "latency") percent = kLatencyLoadPercent;
    if (arguments_.load == "saturated") percent = kSaturatedLoadPercent;
    if (percent == 0) Refuse("unknown load '" + arguments_.load + "'");
    const auto rate = static_cast<std::int64_t>(arguments_.capacity * percent / 100);
    if (rate < 1) Refuse("--capacity is too small to load");
    open_.emplace(simulator_, commands, rate, window_, RandomStream(arguments_.seed, 0, 900));
  }

  const testkit::LoadResult& result() const {
    return closed_ ? closed_->result() : open_->result();
  }

  void CollectWaits(PeerId leader) {
    if (!simulator_.IsUp(leader)) return;
    const auto rows = WaitStatistics::Read(simulator_.Report(leader, WaitStatistics::kName));
    for (const WaitRow& row : rows.value_or(std::vector<WaitRow>{})) {
      std::string peers;
      for (const PeerId peer : row.peers) {
        peers += (peers.empty() ? "" : ", ") + std::to_string(peer);
      }
      waits_ += std::string(waits_.empty() ? "" : ", ") +
                "{\"replica\": " + std::to_string(leader) +
                ", \"coroutine\": " + testkit::JsonString(row.coroutine) +
                ", \"event\": " + testkit::JsonString(row.event) +
                ", \"needed\": " + std::to_string(row.needed) +
                ", \"total\": " + std::to_string(row.total) + ", \"peers\": [" + peers + "]" +
                ", \"count\": " + std::to_string(row.count) +
                ", \"total_ns\": " + std::to_string(row.total_ns) +
                ", \"max_ns\": " + std::to_string(row.max_ns) + "}";
    }
  }

  // From the end of the fault until every replica has applied what was committed at that moment.
  void MeasureCatchUp() {
    const Time healed = simulator_.now();
    const std::uint64_t committed = checker_.MaxCommitIndex();
    const auto all_there = [&] {
      for (PeerId id = 0; id < arguments_.replicas; ++id) {
        if (checker_.claims(id).applied_index < committed) return false;
      }
      return true;
    };
    while (!all_there() && simulator_.StepUntil(healed + kCatchUpMax)) {
    }
    if (all_there()) catch_up_ = simulator_.now() - healed;
    simulator_.RunUntil(std::max(simulator_.now(), healed + kDrain));
  }

  std::string Problem() const {
    if (!simulator_.first_death().empty()) return simulator_.first_death();
    if (!checker_.violations().empty()) return checker_.FirstViolation();
    if (result().completed == 0) return "no operation completed";
    return "";
  }

  std::string Json(const std::string& error) {
    const testkit::LoadResult none;
    const testkit::LoadResult& load = closed_ || open_ ? result() : none;
    const double seconds =
        static_cast<double>(
            std::chrono::duration_cast<std::chrono::milliseconds>(kMeasured).count()) /
        1000;
    char numbers[512];
    std::snprintf(numbers, sizeof numbers,
                  "{\"throughput\": %.3f, \"mean_ns\": %lld, \"p50_ns\": %lld, \"p99_ns\": %lld, "
                  "\"peak_held_bytes\": %zu, \"catch_up_ns\": %s, \"completed\": %llu, "
                  "\"crossings\": %llu, \"ack_cv\": %.4f, \"trace_hash\": \"%llx\", ",
                  static_cast<double>(load.completed) / seconds,
                  static_cast<long long>(load.latencies.Mean().count()),
                  static_cast<long long>(load.latencies.Percentile(500).count()),
                  static_cast<long long>(load.latencies.Percentile(990).count()), peak_held_,
                  catch_up_ ? std::to_string(catch_up_->count()).c_str() : "null",
                  static_cast<unsigned long long>(load.completed),
                  static_cast<unsigned long long>(simulator_.trace().crossings()),
                  load.latencies.Variation(),
                  static_cast<unsigned long long>(simulator_.trace().hash()));
    std::string json = numbers;
    json += "\"error\": " + (error.empty() ? "null" : testkit::JsonString(error));
    if (arguments_.explain) json += ", \"waits\": [" + waits_ + "]";
    return json + "}";
  }

  Arguments arguments_;
  sim::Simulator simulator_;
  testkit::History history_;
  raft::RaftChecker checker_;
  raft::RaftClient client_;
  testkit::LoadWindow window_;
  std::optional<testkit::ClosedLoop> closed_;
  std::optional<testkit::OpenLoop> open_;
  std::size_t peak_held_ = 0;
  std::optional<Duration> catch_up_;
  std::string waits_;
};

}  // namespace
}  // namespace depfast

int main(int argc, char** argv) {
  try {
    const depfast::Arguments arguments = depfast::Parse(argc, argv);
    std::puts(depfast::Measurement(arguments).Run().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slow_follower: %s\n", error.what());
    return 2;
  }
}
