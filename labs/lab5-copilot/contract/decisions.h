// Decisions: the logs of both lanes, and what is decided in them. Given, not submitted.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "copilot_messages.h"
#include "copilot_types.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "journal.h"
#include "lane_log.h"

namespace depfast::copilot {

// The value that is decided for an entry, with its commands.
struct Decided {
  Value value;
  EntryIndex initial = 0;  // the dependency with which the entry was proposed; 0 if unknown
  View origin = 0;         // the view in which the commands were proposed
  Commands commands;
};

class Decisions {
 public:
  // Hears the commands of each entry that has become a no-op.
  using OnNoOp = std::function<void(Lane lane, const Commands& commands)>;

  // Both must outlive this.
  Decisions(Runtime& runtime, Journal& journal, OnNoOp on_no_op);

  // Begins with what the disk says.
  void Recover(std::array<LaneLog, 2> logs);

  LaneLog& log(Lane lane) { return logs_[static_cast<std::size_t>(lane)]; }
  const LaneLog& log(Lane lane) const { return logs_[static_cast<std::size_t>(lane)]; }
  std::array<LaneLog, 2>& logs() { return logs_; }
  // All entries up to here are decided.
  PerLane decided() const { return {logs_[0].decided(), logs_[1].decided()}; }

  // Takes the entry for decided, and tells all. Nothing if it is decided already.
  void DecideAndTell(Lane lane, EntryIndex index, const Decided& decided);
  // Another replica has told us. Nothing if the entry is decided already.
  void Decide(Lane lane, EntryIndex index, const Decided& decided);
  // The same without the commands. False if this replica lacks them.
  bool Decide(const Commit& commit);

  // The entry's decided value, if this replica knows it and may run it: not before the votes
  // and proposals of the same step have left. Requires: index > log(lane).base().
  std::optional<Value> MayRun(Lane lane, EntryIndex index) const;
  // Later, all that is decided may run.
  void LetRunLater();
  // Ready when MayRun has changed. It is the same event each time; this call makes it not ready.
  std::shared_ptr<Event> News();

 private:
  void Set(Lane lane, EntryIndex index, const Value& value);
  void Observe(Lane lane, EntryIndex index);

  Runtime& runtime_;
  Journal& journal_;
  const OnNoOp on_no_op_;
  std::array<LaneLog, 2> logs_;
  PerLane may_run_{};     // the decisions up to here
  bool letting_ = false;  // LetRunLater is under way
  std::shared_ptr<ValueEvent<bool>> news_;
};

}  // namespace depfast::copilot
