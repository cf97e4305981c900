#include "lanes.h"

#include "copilot_observations.h"
#include "depfast/compound_event.h"

namespace depfast::copilot {

void Lanes::Recover(std::array<LaneLog, 2> logs) {
  logs_ = std::move(logs);
  for (const Lane lane : kLanes) {
    for (EntryIndex index = log(lane).base() + 1; index <= log(lane).last(); ++index) {
      if (log(lane).IsDecided(index)) Observe(lane, index);
    }
  }
  LetRunLater();
}

// ---- messages ----

std::vector<PeerId> Lanes::PeersInReach() {
  constexpr std::size_t kHeldBytesMax = std::size_t{256} << 10;
  std::vector<PeerId> peers = runtime_.peers();
  std::erase_if(peers, [this](PeerId peer) { return runtime_.HeldBytes(peer) > kHeldBytesMax; });
  return peers;
}

// A slow peer's calls must not stay in our memory. These waits delay nobody.
void Lanes::ReleaseLater(BroadcastCalls calls) {
  runtime_.Spawn("release", [this, calls = std::move(calls)]() mutable {
    runtime_.set_dependency({});  // no client's
    const auto everybody = std::make_shared<AndEvent>();
    for (const auto& call : calls.all()) everybody->Add(call);
    everybody->Wait(/*timeout=*/100ms);
    calls.Release();
  });
}

// ---- decisions ----

void Lanes::DecideAndTell(Lane lane, EntryIndex index, const Decided& decided) {
  if (log(lane).IsDecided(index)) return;
  Decide(lane, index, decided);
  const Commit commit{lane, index, decided.value.no_op, decided.value.dependency, decided.origin};
  ReleaseLater(Broadcast<Commit>(runtime_.rpc(), PeersInReach(), commit));
}

void Lanes::Decide(Lane lane, EntryIndex index, const Decided& decided) {
  const auto& [value, initial, origin, commands] = decided;
  if (Decide({lane, index, value.no_op, value.dependency, origin})) return;
  log(lane).SetCommands(index, origin, commands);
  journal_.WriteEntry(lane, index, log(lane));
  Set(lane, index, value);
}

bool Lanes::Decide(const Commit& commit) {
  const auto& [lane, index, no_op, dependency, origin] = commit;
  if (log(lane).IsDecided(index)) return true;
  if (!no_op && log(lane).BodyOf(index).origin != origin) return false;
  Set(lane, index, {no_op, dependency});
  return true;
}

void Lanes::Set(Lane lane, EntryIndex index, const Value& value) {
  Record record = log(lane).RecordOf(index);
  record.kind = Record::Kind::kCommitted;
  record.no_op = value.no_op;
  record.dependency = value.no_op ? 0 : value.dependency;
  log(lane).Set(index, record);
  journal_.WriteRecord(lane, index, log(lane));
  Observe(lane, index);
  LetRunLater();
  if (value.no_op) user_.OnNoOp(lane, log(lane).BodyOf(index).commands);
}

void Lanes::Observe(Lane lane, EntryIndex index) {
  const Record record = log(lane).RecordOf(index);
  const std::uint64_t dependency = record.no_op ? 0 : 1 + record.dependency;
  const auto hash = record.no_op ? 0 : CommandsHash(log(lane).BodyOf(index).commands);
  runtime_.Observe(
      {kDecideObservation, {static_cast<std::uint64_t>(lane), index, dependency, hash}});
}

// ---- execution ----

std::optional<Value> Lanes::NextDecision(Lane lane) const {
  const EntryIndex next = At(progress_.entries, lane) + 1;
  const Record record = log(lane).RecordOf(next);
  const bool is_decided = record.kind == Record::Kind::kCommitted;
  if (!is_decided || next > At(may_run_, lane)) return std::nullopt;
  return Value{record.no_op, record.dependency};
}

// All outputs of a step leave at its end. Commands take long to run, and the other pilot waits for
// our vote and our proposal: without this, each of its rounds would take as long as a batch runs.
void Lanes::LetRunLater() {
  if (std::exchange(letting_, true)) return;
  runtime_.Spawn("let-run", [this] {
    runtime_.set_dependency({});  // no client's
    runtime_.Sleep(1ns);
    letting_ = false;
    may_run_ = decided();
    news_->Set(1);
  });
}

std::shared_ptr<Event> Lanes::News() {
  news_->Set(0);
  return news_;
}

}  // namespace depfast::copilot
