#include "measurement.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "faults.h"
#include "profiles.h"
#include "victims.h"

namespace depfast::measure {
namespace {

// The shape of a run, in virtual time.
constexpr Duration kElectionMax = 5s;
constexpr Duration kBeforeFault = 200ms;  // from the election to the fault
constexpr Duration kWarmUp = 600ms;       // load and fault are on, nothing is measured yet
constexpr Duration kMeasured = 1500ms;
constexpr Duration kDrain = 500ms;  // for the answers of the last commands
constexpr Duration kCatchUpMax = 10s;

constexpr int kClosedLoopClients = 256;  // to find the capacity
constexpr int kLatencyLoadPercent = 65;
constexpr int kSaturatedLoadPercent = 120;

sim::SimOptions OptionsOf(const RunOptions& options, sim::BackendFactory make_backend) {
  sim::SimOptions simulated;
  simulated.replicas = options.replicas;
  simulated.seed = options.seed;
  simulated.profile = ProfileOf(options.profile);
  simulated.make_backend = std::move(make_backend);
  if (options.explain) simulated.probes = {WaitStatistics::kName};
  return simulated;
}

// Operations per second of an open loop.
std::int64_t RateOf(const RunOptions& options) {
  const int percent = options.load == "latency" ? kLatencyLoadPercent : kSaturatedLoadPercent;
  const auto rate = static_cast<std::int64_t>(options.capacity * percent / 100);
  if (rate < 1) throw std::invalid_argument("--capacity is too small to load");
  return rate;
}

}  // namespace

Measurement::Measurement(const RunOptions& options, sim::BackendFactory make_backend,
                         const MakeSubject& make_subject)
    : options_(options),
      simulator_(OptionsOf(options, std::move(make_backend))),
      subject_(make_subject(simulator_, history_, kWarmUp + kMeasured + kDrain)) {
  if (options.load != "capacity") RateOf(options);
  simulator_.AddObserver(this);
}

RunResult Measurement::Run() {
  simulator_.Start();
  result_.measured = kMeasured;
  if (Elect()) {
    const std::vector<PeerId> proposers = subject_.log->Proposers();
    const auto victims = VictimsOf(options_.roles, options_.victim, proposers, options_.replicas);
    simulator_.RunFor(kBeforeFault);
    if (const auto fault = FaultOf(options_.fault, victims)) simulator_.Begin(*fault);
    MeasureUnderFault(proposers);
    simulator_.HealAll();
    MeasureCatchUp();
    if (options_.history) std::fputs(history_.All().c_str(), stderr);
    result_.load = load();
    result_.error = Problem();
  } else {
    result_.error = "no replica has committed a command within 5 s";
  }
  result_.crossings = simulator_.trace().crossings();
  result_.trace_hash = simulator_.trace().hash();
  return result_;
}

bool Measurement::Elect() {
  bool committed = false;
  subject_.first_command([&committed](bool ok) { committed = ok; });
  while (!committed && simulator_.StepUntil(kElectionMax)) {
  }
  return committed && !subject_.log->Proposers().empty();
}

void Measurement::StartLoad() {
  const Time start = simulator_.now();
  window_ = {start, start + kWarmUp, start + kWarmUp + kMeasured};
  if (options_.load == "capacity") {
    closed_.emplace(simulator_, subject_.commands, kClosedLoopClients, window_);
  } else {
    open_.emplace(simulator_, subject_.commands, RateOf(options_), window_,
                  RandomStream(options_.seed, 0, 900));
  }
}

const testkit::LoadResult& Measurement::load() const {
  return closed_ ? closed_->result() : open_->result();
}

void Measurement::MeasureUnderFault(const std::vector<PeerId>& proposers) {
  StartLoad();
  simulator_.RunUntil(window_.from);
  simulator_.ResetPeaks();
  simulator_.RunUntil(window_.to);
  if (options_.explain) result_.waits.emplace();
  for (const PeerId proposer : proposers) {
    if (!simulator_.IsUp(proposer)) continue;
    result_.peak_held_bytes = std::max(result_.peak_held_bytes, simulator_.PeakHeldBytes(proposer));
    if (!result_.waits) continue;
    const auto rows = WaitStatistics::Read(simulator_.Report(proposer, WaitStatistics::kName));
    for (const WaitRow& row : rows.value_or(std::vector<WaitRow>())) {
      result_.waits->emplace_back(proposer, row);
    }
  }
}

bool Measurement::HaveAllApplied(std::uint64_t committed) const {
  for (PeerId id = 0; id < options_.replicas; ++id) {
    if (subject_.log->AppliedUpTo(id) < committed) return false;
  }
  return true;
}

void Measurement::MeasureCatchUp() {
  const Time healed = simulator_.now();
  const std::uint64_t committed = subject_.log->CommittedUpTo();
  while (!HaveAllApplied(committed) && simulator_.StepUntil(healed + kCatchUpMax)) {
  }
  if (HaveAllApplied(committed)) result_.catch_up = simulator_.now() - healed;
  simulator_.RunUntil(std::max(simulator_.now(), healed + kDrain));
}

std::string Measurement::Problem() const {
  if (!simulator_.first_death().empty()) return simulator_.first_death();
  if (const std::string violation = subject_.log->FirstViolation(); !violation.empty()) {
    return violation;
  }
  return load().completed == 0 ? "no operation completed" : "";
}

}  // namespace depfast::measure
