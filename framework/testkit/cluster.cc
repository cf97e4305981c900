#include "testkit/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "depfast/runtime.h"
#include "depfast/verify/fact_collector.h"
#include "testkit/verification.h"

namespace depfast::testkit {
namespace {

// `history` outlives the simulator.
sim::SimOptions SimOptionsOf(const ClusterOptions& options, RuntimeProbe* probe, History& history) {
  sim::SimOptions out;
  out.replicas = options.replicas;
  out.groups = options.groups;
  out.seed = SeedOf(options.seed);
  out.profile = options.profile;
  out.make_backend =
      ReplicasUnderTest(probe, [&history](const Runtime& runtime, std::string_view words) {
        history.Add(runtime.Now(), "replica " + std::to_string(runtime.address()) +
                                       " notes: " + std::string(words));
      });
  out.probes = options.probes;
  if (probe != nullptr && std::ranges::count(out.probes, FactCollector::kName) == 0) {
    out.probes.emplace_back(FactCollector::kName);
  }
  return out;
}

std::string Hex(std::uint64_t value) {
  std::ostringstream out;
  out << std::hex << value;
  return out.str();
}

// The trace hash of a test is that of all its clusters, in order.
void RecordTraceHash(std::uint64_t hash) {
  static std::string test;
  static std::uint64_t combined = 0;
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  if (info == nullptr) return;
  const std::string name = std::string(info->test_suite_name()) + "." + info->name();
  if (std::exchange(test, name) != name) combined = 0;
  combined = RandomStream::Mix(combined + hash);
  testing::Test::RecordProperty("trace_hash", Hex(combined));
  testing::Test::RecordProperty("seed", std::to_string(TheEnvironment().seed));
}

}  // namespace

std::uint64_t SeedOf(std::uint64_t world) {
  return RandomStream(TheEnvironment().seed, world).Next();
}

Cluster::Cluster(const ClusterOptions& options)
    : recorder_(Recorder::IfWanted(TheEnvironment().record)),
      simulator_(SimOptionsOf(options, recorder_.get(), history_)) {
  if (recorder_ != nullptr) {
    recorder_->Watch(simulator_, history_);
    verification_ = std::make_unique<Verification>(simulator_);
  }
  simulator_.AddObserver(this);
  const std::string& trace = TheEnvironment().trace;
  if (!trace.empty()) {
    trace_file_.open(trace, std::ios::app);
    simulator_.trace().set_writer([this](const std::string& line) { trace_file_ << line << "\n"; });
  }
}

Cluster::~Cluster() {
  if (verification_ != nullptr) {
    verification_->Collect();
    recorder_->Conclude(*verification_);
  }
  Report();
}

bool Cluster::RunUntil(const std::function<bool()>& done, Duration at_most) {
  const Time limit = now() + at_most;
  while (!done()) {
    if (!simulator_.StepUntil(limit)) {
      if (done()) return true;
      RecordStall();
      return false;
    }
  }
  return true;
}

// Without a leader all replicas wait alike, and one's stacks say as much as those of all. Waits are
// alike if they differ in their numbers alone: ids, times, addresses.
void Cluster::RecordStall() {
  std::map<std::string, PeerId> first_of;  // by the words of its waits
  for (PeerId replica = 0; replica < replicas(); ++replica) {
    if (!simulator_.IsUp(replica)) continue;
    const std::string waits = simulator_.DumpCoroutines(replica);
    std::string words = waits;
    std::erase_if(words, [](char each) { return each >= '0' && each <= '9'; });
    const auto [first, is_new] = first_of.try_emplace(words, replica);
    const std::string name = "replica " + std::to_string(replica);
    Note(is_new ? name + " stalls: " + waits
                : name + " stalls as replica " + std::to_string(first->second) + " does");
  }
}

void Cluster::Report() {
  if (TheEnvironment().dry_run) return;
  RecordTraceHash(simulator_.trace().hash());
  const Environment& environment = TheEnvironment();
  if (!environment.history.empty()) {
    std::ofstream(environment.history, std::ios::app) << history_.All();
  }
  if (!testing::Test::HasFailure()) return;
  constexpr std::size_t kLines = 40;
  const std::string tail = history_.Tail(kLines);
  testing::Test::RecordProperty("history", tail);
  if (!environment.history.empty()) return;  // the reader has all of it
  std::printf("The end of the history (seed %llu):\n%s",
              static_cast<unsigned long long>(environment.seed), tail.c_str());
}

}  // namespace depfast::testkit
