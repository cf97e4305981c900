// Lanes: both lanes of a replica: their logs and journal, the decided entries, and those that have
// run. Given, not submitted.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "command_memory.h"
#include "depfast/broadcast.h"
#include "journal.h"

namespace depfast::copilot {

// The part of the lanes that has run on this replica.
struct Progress {
  PerLane entries{};           // of each lane, up to here
  std::uint64_t commands = 0;  // of both
  CommandMemory memory;
};

class Lanes {
 public:
  // Hears the commands of each entry that has become a no-op.
  using OnNoOp = std::function<void(Lane lane, const Commands& commands)>;

  // `runtime` must outlive this.
  Lanes(Runtime& runtime, Durability durability, OnNoOp on_no_op)
      : runtime_(runtime), journal_(runtime, durability), on_no_op_(std::move(on_no_op)) {}

  // Begins with the logs of the disk.
  void Recover(std::array<LaneLog, 2> logs);

  LaneLog& log(Lane lane) { return At(logs_, lane); }
  const LaneLog& log(Lane lane) const { return At(logs_, lane); }
  std::array<LaneLog, 2>& logs() { return logs_; }
  Journal& journal() { return journal_; }
  Progress& progress() { return progress_; }
  const Progress& progress() const { return progress_; }
  // All entries up to here are decided.
  PerLane decided() const { return {logs_[0].decided(), logs_[1].decided()}; }

  // The replicas that take our messages. A slow one, with many bytes in our queue, learns later.
  std::vector<PeerId> PeersInReach();
  // Releases calls that have no answer after a while: a slow peer's must not stay in our memory.
  // Returns at once.
  void ReleaseLater(BroadcastCalls calls);

  // Takes the entry for decided, and tells all. Nothing if it is decided already.
  void DecideAndTell(Lane lane, EntryIndex index, const Decided& decided);
  // Takes the entry for decided, as another replica has told us. Nothing if it is decided already.
  void Decide(Lane lane, EntryIndex index, const Decided& decided);
  // Decides an entry without its commands. False if this replica lacks them.
  bool Decide(const Commit& commit);

  // The decided value of the lane's next entry that has not run, if this replica may run it: not
  // before the votes and proposals of the same step have left.
  std::optional<Value> MayRun(Lane lane) const;
  // Later, all that is decided may run.
  void LetRunLater();
  // Ready when MayRun has changed. It is the same event each time; this call makes it not ready.
  std::shared_ptr<Event> News();

 private:
  void Set(Lane lane, EntryIndex index, const Value& value);
  void Observe(Lane lane, EntryIndex index);

  Runtime& runtime_;
  Journal journal_;
  const OnNoOp on_no_op_;
  std::array<LaneLog, 2> logs_;
  Progress progress_;
  PerLane may_run_{};     // the decisions up to here
  bool letting_ = false;  // LetRunLater is under way
  const std::shared_ptr<IntEvent> news_ = std::make_shared<IntEvent>("news", 1);
};

}  // namespace depfast::copilot
