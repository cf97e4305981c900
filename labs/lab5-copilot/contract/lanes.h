// Lanes: both lanes of a replica: their logs and journal, the decided entries, and those that have
// run. Given, not submitted.
#pragma once

#include <array>
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

// The replica, as its parts need it. No function but Order may wait.
class LaneUser {
 public:
  virtual ~LaneUser() = default;
  // An entry with these commands has become a no-op.
  virtual void OnNoOp(Lane lane, const Commands& commands) = 0;
  // This replica has the lane from now on. All entries that may be decided in an earlier view are
  // at most `latest`.
  virtual void OnElected(Lane lane, EntryIndex latest) = 0;
  virtual void OnDeposed() = 0;
  // A pilot knows the decisions up to `decided`, and all replicas have run the entries up to
  // `ran_everywhere`.
  virtual void OnHeartbeat(PeerId from, const PerLane& decided, const PerLane& ran_everywhere) = 0;
  // Proposes an entry, and returns once it is decided. Runs in a coroutine of its own.
  virtual void Order(const FastAccept& proposal) = 0;
  // The longest wait for an entry of the other pilot.
  virtual Duration TakeoverPatience() const = 0;
};

class Lanes {
 public:
  // Both must outlive this.
  Lanes(Runtime& runtime, Durability durability, LaneUser& user)
      : runtime_(runtime), journal_(runtime, durability), user_(user) {}

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

  // See CopilotBase.
  std::vector<PeerId> PeersInReach();
  void ReleaseLater(BroadcastCalls calls);
  void DecideAndTell(Lane lane, EntryIndex index, const Decided& decided);
  std::optional<Value> NextDecision(Lane lane) const;
  std::shared_ptr<Event> News();

  // Takes the entry for decided, as another replica has told us. Nothing if it is decided already.
  void Decide(Lane lane, EntryIndex index, const Decided& decided);
  // Decides an entry without its commands. False if this replica lacks them.
  bool Decide(const Commit& commit);

  // Later, all that is decided may run.
  void LetRunLater();

 private:
  void Set(Lane lane, EntryIndex index, const Value& value);
  void Observe(Lane lane, EntryIndex index);

  Runtime& runtime_;
  Journal journal_;
  LaneUser& user_;
  std::array<LaneLog, 2> logs_;
  Progress progress_;
  PerLane may_run_{};     // the decisions up to here
  bool letting_ = false;  // LetRunLater is under way
  const std::shared_ptr<IntEvent> news_ = std::make_shared<IntEvent>("news", 1);
};

}  // namespace depfast::copilot
