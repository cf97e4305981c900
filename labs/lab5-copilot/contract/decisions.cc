#include "decisions.h"

#include <utility>

#include "copilot_observations.h"
#include "peers.h"

namespace depfast::copilot {

Decisions::Decisions(Runtime& runtime, Journal& journal, OnNoOp on_no_op)
    : runtime_(runtime),
      journal_(journal),
      on_no_op_(std::move(on_no_op)),
      news_(std::make_shared<ValueEvent<bool>>("news", false, std::identity())) {}

void Decisions::Recover(std::array<LaneLog, 2> logs) {
  logs_ = std::move(logs);
  for (const Lane lane : kLanes) {
    for (EntryIndex index = log(lane).base() + 1; index <= log(lane).last(); ++index) {
      if (log(lane).IsDecided(index)) Observe(lane, index);
    }
  }
  LetRunLater();
}

void Decisions::DecideAndTell(Lane lane, EntryIndex index, const Decided& decided) {
  if (log(lane).IsDecided(index)) return;
  Decide(lane, index, decided);
  const Commit commit{lane, index, decided.value.no_op, decided.value.dependency, decided.origin};
  ReleaseLater(runtime_, Broadcast<Commit>(runtime_.rpc(), PeersInReach(runtime_), commit));
}

void Decisions::Decide(Lane lane, EntryIndex index, const Decided& decided) {
  LaneLog& log = this->log(lane);
  if (log.IsDecided(index)) return;
  if (!decided.value.no_op && log.BodyOf(index).origin != decided.origin) {
    log.SetCommands(index, decided.origin, decided.commands);
    journal_.WriteEntry(lane, index, log);
  }
  Set(lane, index, decided.value);
}

bool Decisions::Decide(const Commit& commit) {
  const auto& [lane, index, no_op, dependency, origin] = commit;
  LaneLog& log = this->log(lane);
  if (log.IsDecided(index)) return true;
  if (!no_op && log.BodyOf(index).origin != origin) return false;
  Set(lane, index, {no_op, dependency});
  return true;
}

void Decisions::Set(Lane lane, EntryIndex index, const Value& value) {
  LaneLog& log = this->log(lane);
  Record record = log.RecordOf(index);
  record.kind = Record::Kind::kCommitted;
  record.no_op = value.no_op;
  record.dependency = value.no_op ? 0 : value.dependency;
  log.Set(index, record);
  journal_.WriteRecord(lane, index, log);
  Observe(lane, index);
  LetRunLater();
  if (value.no_op) on_no_op_(lane, log.BodyOf(index).commands);
}

void Decisions::Observe(Lane lane, EntryIndex index) {
  const Record record = log(lane).RecordOf(index);
  ObserveDecide(runtime_, lane, index, {record.no_op, record.dependency},
                log(lane).BodyOf(index).commands);
}

std::optional<Value> Decisions::MayRun(Lane lane, EntryIndex index) const {
  const Record record = log(lane).RecordOf(index);
  const bool is_decided = record.kind == Record::Kind::kCommitted;
  if (!is_decided || index > At(may_run_, lane)) return std::nullopt;
  return Value{record.no_op, record.dependency};
}

// All outputs of a step leave at its end. Commands take long to run, and the other pilot waits for
// our vote and our proposal: without this, each of its rounds would take as long as a batch runs.
void Decisions::LetRunLater() {
  if (std::exchange(letting_, true)) return;
  runtime_.Spawn("let-run", [this] {
    runtime_.set_dependency({});  // no client's
    runtime_.Sleep(1ns);
    letting_ = false;
    may_run_ = decided();
    news_->Set(true);
  });
}

std::shared_ptr<Event> Decisions::News() {
  news_->Set(false);
  return news_;
}

}  // namespace depfast::copilot
