#include "measurement.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <variant>

#include "changing_load.h"
#include "depfast/host/hosted_runtime.h"
#include "faults.h"
#include "profiles.h"
#include "run_shape.h"
#include "sealed/sealed_backend.h"
#include "victims.h"

namespace depfast::measure {
namespace {

// In virtual time.
constexpr Duration kElectionMax = 5s;
constexpr Duration kBeforeLoad = 200ms;  // from the first commit to the load
constexpr Duration kDrain = 500ms;  // after the window: commands not answered by then never are
constexpr Duration kCatchUpMax = 10s;

// Resident memory beyond the heap and the stacks of coroutines that a replica reports: the program,
// and memory that the allocator keeps. A measured replica of the reference uses 5 MB in all when
// its heap is small. 16 MiB; a sanitizer needs more.
constexpr std::size_t kUnexplainedBytesMax = sealed::kResidentBytesMax / 32;
// Its report is a claim, and explains no more than this: four times the most of the references.
constexpr std::size_t kExplainedBytesMax = 6 * kUnexplainedBytesMax;

// Shapes.
constexpr const char* kChanging = "changing";
constexpr const char* kReturning = "return";
constexpr std::uint64_t kArrivals = 900;  // the stream's number

sim::SimOptions OptionsOf(const RunOptions& options, sim::BackendFactory make_backend) {
  sim::SimOptions simulated;
  simulated.replicas = options.replicas;
  simulated.seed = options.seed;
  simulated.profile = WithCosts(ProfileOf(options.profile, options.seed), options.costs_percent);
  simulated.make_backend = std::move(make_backend);
  simulated.probes = {UnfinishedWork::kName};
  if (options.explain) simulated.probes.emplace_back(WaitStatistics::kName);
  return simulated;
}

// Longer than any command of the load is waited for. A client of a sweep is like a real one, and
// tries another replica.
ClientLoad LoadOf(const RunOptions& options) {
  ClientLoad load = options.load;
  load.answer_timeout =
      IsOfSweep(options.shape) ? 1s : WindowOf(options.shape, Time::zero()).to + kDrain;
  return load;
}

}  // namespace

Measurement::Measurement(const RunOptions& options, sim::BackendFactory make_backend,
                         const MakeSubject& make_subject, testkit::Recorder* recorder)
    : options_(options),
      simulator_(OptionsOf(options, std::move(make_backend))),
      subject_(make_subject(WatchedBy(recorder), history_, LoadOf(options))),
      answers_(simulator_, *subject_.log, history_) {
  simulator_.AddObserver(this);
  simulator_.AddObserver(&pending_);
  if (options_.explain) simulator_.AddObserver(&flows_);
  if (!options_.trace.empty()) WriteTrace();
}

sim::Simulator& Measurement::WatchedBy(testkit::Recorder* recorder) {
  if (recorder != nullptr) recorder->Watch(simulator_, history_);
  return simulator_;
}

void Measurement::WriteTrace() {
  trace_file_.open(options_.trace);
  if (!trace_file_) throw std::runtime_error("cannot write " + options_.trace);
  simulator_.trace().set_writer([this](const std::string& line) { trace_file_ << line << "\n"; });
}

RunResult Measurement::Run() {
  simulator_.Start();
  if (Elect()) {
    const std::vector<PeerId> proposers = subject_.log->Proposers();
    proposers_ = proposers;
    simulator_.RunFor(kBeforeLoad);
    window_ = WindowOf(options_.shape, simulator_.now(), options_.seed);
    ScheduleFault(proposers);
    BeginOnset();
    const FiguresAt figures_at = BeginLoad();
    MeasureWindow(proposers);
    simulator_.HealAll();
    MeasureCatchUp();
    result_.measured = window_.to - window_.from;
    result_.load = figures_at(window_.to + kDrain);
    if (result_.error.empty()) result_.error = Problem();
  } else {
    result_.error = "no replica has committed a command within 5 s";
  }
  if (options_.history) std::fputs(history_.All().c_str(), stderr);
  result_.violation = Violation();
  result_.crossings = simulator_.trace().crossings();
  result_.trace_hash = simulator_.trace().hash();
  return result_;
}

Measurement::FiguresAt Measurement::BeginLoad() {
  const testkit::Operation& commands = subject_.commands;
  const RandomStream arrivals(options_.seed, 0, kArrivals);
  const auto figures_of = [](const auto& load) -> FiguresAt {
    return [load](Time end) { return load->ResultAt(end); };
  };
  if (options_.shape == kChanging && options_.clients > 0) {
    const Duration third = (window_.to - window_.from) / 3;
    const testkit::LoadWindow crowded{window_.from + third, window_.from, window_.to - third};
    crowd_.emplace(simulator_, commands, options_.clients - 1, crowded);
    return figures_of(std::make_shared<testkit::ClosedLoop>(simulator_, commands, 1, window_));
  }
  if (options_.shape == kChanging) {
    return figures_of(
        std::make_shared<ChangingLoad>(simulator_, commands, options_.rate, window_, arrivals));
  }
  if (options_.clients > 0) {
    return figures_of(
        std::make_shared<testkit::ClosedLoop>(simulator_, commands, options_.clients, window_));
  }
  const Duration interval(static_cast<std::int64_t>(1e9 / options_.rate));
  return figures_of(
      std::make_shared<testkit::OpenLoop>(simulator_, commands, interval, window_, arrivals));
}

void Measurement::BeginOnset() {
  const bool has_stages = HasStages(options_.shape);
  if (!has_stages && options_.shape != kChanging) return;
  Onset onset;
  // The last one may be shorter.
  const auto slices = (window_.to - window_.from + testkit::kCompletionsSlot - Duration(1)) /
                      testkit::kCompletionsSlot;
  onset.answers.assign(static_cast<std::size_t>(options_.replicas),
                       std::vector<std::int64_t>(static_cast<std::size_t>(slices)));
  onset.has_slices = IsOfSweep(options_.shape);
  if (has_stages) {
    const auto plan = PlanOf(options_.shape, faults::CpuSlow({0}, 50), window_);
    onset.fault_from = (plan.front().start - window_.from) / testkit::kCompletionsSlot;
    onset.fault_to = (plan.front().end() - window_.from) / testkit::kCompletionsSlot;
    if (options_.shape.ends_with(kReturning) && subject_.return_clients) {
      simulator_.At(plan.front().end() + kReturn, subject_.return_clients);
      const auto shift = ShiftOf(options_.shape, window_);
      if (shift) simulator_.At(*shift + kReturnOfShift, subject_.return_clients);
    }
  }
  result_.onset = onset;
}

bool Measurement::Elect() {
  bool committed = false;
  subject_.commands([&committed](bool ok) { committed = ok; });
  while (!committed && simulator_.StepUntil(kElectionMax)) {
  }
  return committed && !subject_.log->Proposers().empty();
}

// With stages a fault names roles. Whoever has them when it begins is slow.
void Measurement::ScheduleFault(const std::vector<PeerId>& proposers) {
  const std::vector<PeerId> victims = VictimsAmong(proposers);
  if (options_.fault == "none") return;
  if (!HasStages(options_.shape)) return BeginFault(victims);
  const faults::Fault of_all = *FaultOf(options_.fault, AllReplicas());
  if (const auto until = ShiftOf(options_.shape, window_)) {
    simulator_.Schedule({of_all.From(simulator_.now()).For(*until - simulator_.now())});
  }
  simulator_.At(PlanOf(options_.shape, of_all, window_).front().start,
                [this] { BeginFault(VictimsAmong(proposers_)); });
}

std::vector<PeerId> Measurement::AllReplicas() const {
  std::vector<PeerId> all(static_cast<std::size_t>(options_.replicas));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<PeerId> Measurement::VictimsAmong(const std::vector<PeerId>& proposers) const {
  const RunOptions& of = options_;
  if (of.victim.empty()) return FollowersAt(of.slow, proposers, of.replicas);
  return ProposerAndFollowers(of.roles, of.victim, of.slow, proposers, of.replicas);
}

void Measurement::BeginFault(const std::vector<PeerId>& victims) {
  slow_ = victims;
  simulator_.Schedule(PlanOf(options_.shape, *FaultOf(options_.fault, victims), window_));
}

void Measurement::OnStep(PeerId replica, const sim::StepInput& input,
                         const sim::StepOutput& output) {
  if (input.now < window_.from || input.now >= window_.to) return;
  if (result_.onset) SeeProposers(input.now);
  if (!IsSlow(replica))
    result_.peak_heap_bytes = std::max(result_.peak_heap_bytes, output.heap_bytes);
  const std::uint64_t committed = subject_.log->CommittedUpTo();
  for (const PeerId slow : slow_) {
    const std::uint64_t reached = subject_.log->HasUpTo(slow);
    if (reached < committed) result_.lag = std::max(result_.lag, committed - reached);
  }
}

void Measurement::OnOutputsLeave(PeerId replica, Time now,
                                 const std::vector<sim::Output>& outputs) {
  if (!result_.onset || now < window_.from || now >= window_.to) return;
  const auto slice = static_cast<std::size_t>((now - window_.from) / testkit::kCompletionsSlot);
  result_.onset->answers[static_cast<std::size_t>(replica)][slice] +=
      std::ranges::count_if(outputs, [](const sim::Output& one) {
        const auto* sent = std::get_if<sim::SendFrame>(&one);
        return sent != nullptr && sent->to >= kFirstClient;
      });
}

void Measurement::SeeProposers(Time now) {
  const std::vector<PeerId> seen = subject_.log->Proposers();
  if (seen.size() < proposers_.size() || seen == proposers_) return;  // one is being elected
  result_.onset->new_proposers.push_back((now - window_.from) / testkit::kCompletionsSlot);
  proposers_ = seen;
}

bool Measurement::IsSlow(PeerId replica) const {
  return std::find(slow_.begin(), slow_.end(), replica) != slow_.end();
}

void Measurement::MeasureWindow(const std::vector<PeerId>& proposers) {
  simulator_.RunUntil(window_.from);
  simulator_.ResetPeaks();
  flows_.Clear(window_.from);
  const LogChecker& log = *subject_.log;
  const std::uint64_t before = log.CommittedUpTo(), slowly_before = log.CommittedSlowly();
  simulator_.RunUntil(window_.to);
  const std::uint64_t committed = log.CommittedUpTo() - before;
  if (committed > 0) {
    result_.slowly =
        static_cast<double>(log.CommittedSlowly() - slowly_before) / static_cast<double>(committed);
  }
  if (options_.explain) result_.evidence = Evidence{{}, flows_.by_link(), {}};
  MeasureUnfinished();
  // A slow proposer holds late data, and no backlog for a slow peer, and its waits are its own.
  // One alone is still counted.
  const auto is_slow = [this](PeerId id) { return IsSlow(id); };
  const bool all_are_slow = std::all_of(proposers.begin(), proposers.end(), is_slow);
  for (const PeerId proposer : proposers) {
    if (!simulator_.IsUp(proposer) || (IsSlow(proposer) && !all_are_slow)) continue;
    result_.peak_held_bytes = std::max(result_.peak_held_bytes, simulator_.PeakHeldBytes(proposer));
    if (!result_.evidence) continue;
    const auto rows = WaitStatistics::Read(simulator_.Report(proposer, WaitStatistics::kName));
    for (const WaitRow& row : rows.value_or(std::vector<WaitRow>())) {
      result_.evidence->waits.emplace_back(proposer, row);
    }
  }
}

void Measurement::MeasureUnfinished() {
  result_.slow = slow_;
  for (PeerId id = 0; id < options_.replicas; ++id) {
    if (IsSlow(id) || !simulator_.IsUp(id)) continue;
    const std::uint64_t pending = pending_.CountOf(id);
    result_.pending_requests = std::max(result_.pending_requests, pending);
    const auto rows = UnfinishedWork::Read(simulator_.Report(id, UnfinishedWork::kName));
    result_.resident_bytes = std::max(result_.resident_bytes, simulator_.ResidentBytes(id));
    if (result_.error.empty()) result_.error = WhyUntrue(id, rows);
    std::uint64_t coroutines = 0;
    for (const UnfinishedRow& row : rows.value_or(std::vector<UnfinishedRow>())) {
      if (row.peer == UnfinishedRow::kNoPeer) coroutines += row.now;
      if (result_.evidence) result_.evidence->unfinished.emplace_back(id, row);
    }
    result_.unfinished_coroutines = std::max(result_.unfinished_coroutines, coroutines);
  }
}

std::string Measurement::WhyUntrue(PeerId replica,
                                   const std::optional<std::vector<UnfinishedRow>>& rows) {
  const std::string who = "replica " + std::to_string(replica);
  if (!rows) return who + " does not report the work that it has not finished";
  std::size_t explained = kUnexplainedBytesMax + 2 * result_.peak_heap_bytes;
  for (const UnfinishedRow& row : *rows) {
    if (row.peer == UnfinishedRow::kNoPeer) explained += row.most * RuntimeOptions().stack_bytes;
  }
  const std::size_t resident = simulator_.ResidentBytes(replica);
  if (resident <= std::min(explained, kExplainedBytesMax)) return "";
  if (resident <= explained) {
    return who + " uses over " + std::to_string(kExplainedBytesMax >> 20) + " MiB of memory";
  }
  return who + " uses more memory than its heap and its coroutines explain, by over " +
         std::to_string(kUnexplainedBytesMax >> 20) + " MiB";
}

bool Measurement::HaveAllApplied(std::uint64_t committed) const {
  for (PeerId id = 0; id < options_.replicas; ++id) {
    if (subject_.log->HasUpTo(id) < committed) return false;
  }
  return true;
}

void Measurement::MeasureCatchUp() {
  const std::uint64_t committed = subject_.log->CommittedUpTo();
  do {
    const Duration passed = simulator_.now() - window_.to;
    if (!result_.catch_up && HaveAllApplied(committed)) result_.catch_up = passed;
    if (!result_.fast_again && subject_.log->IsFast()) result_.fast_again = passed;
  } while (!(result_.catch_up && result_.fast_again) &&
           simulator_.StepUntil(window_.to + kCatchUpMax));
  simulator_.RunUntil(std::max(simulator_.now(), window_.to + kDrain));
}

std::string Measurement::Violation() const {
  if (std::string of_data = subject_.log->FirstSafetyViolation(); !of_data.empty()) return of_data;
  const std::string untrue = subject_.untrue ? subject_.untrue() : answers_.FirstViolation();
  return untrue.empty() ? subject_.log->FirstViolation() : untrue;
}

std::string Measurement::Problem() const {
  if (!simulator_.first_death().empty()) return simulator_.first_death();
  return result_.load.completed == 0 ? "no operation completed" : "";
}

}  // namespace depfast::measure
