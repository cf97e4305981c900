#include "batches.h"

#include <algorithm>
#include <cstddef>

namespace depfast::copilot {
namespace {

// The most rounds under way. More of them gather fewer commands in each (lab 2 has the same bound).
constexpr int kRoundsMax = 4;
constexpr std::size_t kBatchBytesMax = std::size_t{256} << 10;
constexpr EntryIndex kReserved = 256;
// A pilot yields for this time after another replica has taken an entry of it over. Each attempt of
// a pilot that is still late costs the others a takeover: at most one wait in each second.
constexpr Duration kYieldTime = 1s;
// The longest wait for the other pilot's turn (published: 1 ms). Turns only gather commands. The
// patience for a takeover has no limit: an entry that takes long to run makes it longer, and the
// next batch, gathered in that time, would take longer still.
constexpr Duration kTurnPatienceMax = 20ms;

}  // namespace

// ---- commands ----

void Batches::Add(Command command, const Dependency& client, Done done) {
  std::vector<Done>& waiting = waiting_[command.name];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;  // it is proposed already
  pending_.push_back({std::move(command), client, runtime_.Now()});
  has_pending_->Set(1);
}

void Batches::AddAgain(const Commands& commands) {
  for (const Command& command : commands) {
    if (IsWaitedFor(command)) pending_.push_back({command, Dependency(), runtime_.Now()});
  }
  if (!pending_.empty()) has_pending_->Set(1);
}

void Batches::Answer(std::uint64_t name, SubmitStatus status, const CommandMemory::Result& result) {
  const auto waiting = waiting_.extract(name);
  if (waiting.empty()) return;
  for (const Done& done : waiting.mapped()) done(status, result);
}

void Batches::Stop() {
  for (const Pending& each : std::exchange(pending_, {})) {
    Answer(each.command.name, SubmitStatus::kNotProposer, {});
  }
  while (!waiting_.empty()) Answer(waiting_.begin()->first, SubmitStatus::kUnknown, {});
  has_pending_->Set(1);  // the loop ends
  our_turn_->Set(1);
  round_ended_->Set(1);
}

// ---- entries ----

void Batches::Start(Lane lane, EntryIndex latest) {
  latest_proposed_ = latest;
  reserved_ = 0;
  turn_missed_ = false;
  yields_until_ = Time(0);
  our_turn_->Set(lane == Lane::kPilot ? 1 : 0);  // the pilot starts
  runtime_.Spawn("batches", [this, lane] { ProposeLoop(lane); });
}

void Batches::ProposeLoop(Lane lane) {
  const auto leads = [this, lane, view = pilots_.view(lane)] { return pilots_.Has(lane, view); };
  while (leads()) {
    has_pending_->Wait();
    if (AwaitsRound() || HoldsBack()) continue;
    AwaitTurn();
    if (leads()) Reserve(lane);
    if (!leads()) break;
    const std::vector<Pending> batch = TakeBatch();
    if (batch.empty()) continue;
    our_turn_->Set(0);
    StartRound(lane, batch);
  }
}

// Waits for a round's end, if the most rounds are under way. True if it has waited. A pilot that
// yields has one: it hears late that an entry was taken over, and the next would be, too.
bool Batches::AwaitsRound() {
  if (rounds_ < (Yields() ? 1 : kRoundsMax)) return false;
  round_ended_->Set(0);
  round_ended_->Wait();
  return true;
}

// A pilot that has missed its turn is not waited for.
void Batches::AwaitTurn() {
  if (turn_missed_) return;
  turn_missed_ =
      our_turn_->Wait(std::min(user_.TakeoverPatience(), kTurnPatienceMax)) == Outcome::kTimedOut;
}

// Waits for the oldest command, if this pilot yields. True if the commands have changed meanwhile.
bool Batches::HoldsBack() {
  if (!Yields()) return false;
  // The other commands came by the other lane, and have run.
  std::erase_if(pending_, [this](const Pending& each) { return !IsWaitedFor(each.command); });
  has_pending_->Set(pending_.empty() ? 0 : 1);
  if (pending_.empty()) return true;
  if (MayPropose(pending_.front())) return false;
  runtime_.Sleep(pending_.front().since + user_.TakeoverPatience() - runtime_.Now());
  return true;
}

// A pilot that yields leaves each command to the other one for as long as a takeover would wait.
// It proposes a command that has not run by then: the other pilot may be dead.
bool Batches::MayPropose(const Pending& pending) const {
  return !Yields() || runtime_.Now() >= pending.since + user_.TakeoverPatience();
}

// The other pilot is in time if it has seen an entry of ours that may still be under way.
void Batches::OnOtherPilotsTurn(EntryIndex seen) {
  our_turn_->Set(1);
  if (seen + kRoundsMax > latest_proposed_) turn_missed_ = false;
}

EntryIndex Batches::NextIndex(Lane lane) const {
  return std::max(latest_proposed_, lanes_.log(lane).latest_known()) + 1;
}

// Waits until the next index is reserved: rarely, because it reserves more while some are left.
void Batches::Reserve(Lane lane) {
  if (reserved_ < NextIndex(lane) + kReserved / 2 && !std::exchange(reserving_, true)) {
    const EntryIndex up_to = NextIndex(lane) + kReserved;
    lanes_.journal().WriteReservation(lane, up_to);
    lanes_.journal().WhenDurable([this, up_to, lane, view = pilots_.view(lane)] {
      reserving_ = false;
      if (pilots_.Has(lane, view)) reserved_ = up_to;
      has_reserved_->Set(1);
    });
  }
  while (pilots_.Has(lane) && reserved_ < NextIndex(lane)) {
    has_reserved_->Set(0);
    has_reserved_->Wait();
  }
}

std::vector<Batches::Pending> Batches::TakeBatch() {
  std::vector<Pending> batch;
  std::size_t bytes = 0;
  auto next = pending_.begin();
  for (; next != pending_.end() && bytes < kBatchBytesMax; ++next) {
    if (!IsWaitedFor(next->command)) continue;
    if (!MayPropose(*next)) break;
    bytes += SizeOf(next->command);
    batch.push_back(std::move(*next));
  }
  pending_.erase(pending_.begin(), next);
  has_pending_->Set(pending_.empty() ? 0 : 1);
  return batch;
}

void Batches::StartRound(Lane lane, const std::vector<Pending>& batch) {
  FastAccept proposal{lane,
                      pilots_.view(lane),
                      NextIndex(lane),
                      lanes_.log(Other(lane)).latest_known(),
                      pilots_.owner(Other(lane)),
                      {}};
  for (const Pending& each : batch) proposal.commands.push_back(each.command);
  latest_proposed_ = proposal.index;
  ++rounds_;
  runtime_.Spawn("propose", [this, proposal = std::move(proposal), client = batch.front().client] {
    runtime_.set_dependency(client);
    user_.Order(proposal);
    const LaneLog& log = lanes_.log(proposal.lane);
    const bool is_kept = proposal.index > log.base();
    if (is_kept && IsTakeover(log.RecordOf(proposal.index).promised)) {
      yields_until_ = runtime_.Now() + kYieldTime;
    }
    --rounds_;
    round_ended_->Set(1);
  });
}

}  // namespace depfast::copilot
