// Batches: commands of clients become entries of this pilot's lane, and get their answers. Given,
// not submitted.
//
// Ping-pong batching: a batch is closed when the other pilot's proposal arrives, or after a while.
// Then the dependency of each is the other's latest, and the fast path is usual.
//
// A late pilot yields: its entries would be taken over, and all others wait for that.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "pilots.h"
#include "submit.h"

namespace depfast::copilot {

class Batches {
 public:
  using Done = std::function<void(SubmitStatus status, const CommandMemory::Result& result)>;

  // All must outlive this.
  Batches(Runtime& runtime, const Pilots& pilots, Lanes& lanes, LaneUser& user)
      : runtime_(runtime), pilots_(pilots), lanes_(lanes), user_(user) {}

  // This replica has the lane from now on, and proposes entries behind `latest`.
  void Start(Lane lane, EntryIndex latest);
  // It has lost the lane. Answers all that wait.
  void Stop();

  // Proposes the command, on behalf of `client`, unless it is proposed already.
  void Add(Command command, const Dependency& client, Done done);
  // Proposes those commands again for which somebody waits.
  void AddAgain(const Commands& commands);
  // Answers all that wait for the command. Later it is not proposed. The result is empty unless the
  // command is committed.
  void Answer(std::uint64_t name, SubmitStatus status, const CommandMemory::Result& result);

  // The other pilot has proposed, and had seen our entry `seen`.
  void OnOtherPilotsTurn(EntryIndex seen);

 private:
  struct Pending {
    Command command;
    Dependency client;
    Time since;
  };

  void ProposeLoop(Lane lane);
  bool AwaitsRound();
  void AwaitTurn();
  bool Yields() const { return runtime_.Now() < yields_until_; }
  bool HoldsBack();
  bool MayPropose(const Pending& pending) const;
  bool IsWaitedFor(const Command& command) const { return waiting_.contains(command.name); }
  void Reserve(Lane lane);
  std::vector<Pending> TakeBatch();
  void StartRound(Lane lane, const std::vector<Pending>& batch);
  EntryIndex NextIndex(Lane lane) const;

  Runtime& runtime_;
  const Pilots& pilots_;
  Lanes& lanes_;
  LaneUser& user_;

  std::vector<Pending> pending_;                        // not proposed yet
  std::map<std::uint64_t, std::vector<Done>> waiting_;  // by the command's name
  const std::shared_ptr<IntEvent> has_pending_ = std::make_shared<IntEvent>("commands", 1);
  // The other pilot has proposed after us.
  const std::shared_ptr<IntEvent> our_turn_ = std::make_shared<IntEvent>("turn", 1);
  // A round has ended since this was waited for.
  const std::shared_ptr<IntEvent> round_ended_ = std::make_shared<IntEvent>("round", 1);
  int rounds_ = 0;
  bool turn_missed_ = false;  // by the other pilot, since it was in time
  Time yields_until_{0};
  EntryIndex latest_proposed_ = 0;
  // Indexes that a crash does not let this pilot forget: see journal.h.
  const std::shared_ptr<IntEvent> has_reserved_ = std::make_shared<IntEvent>("reserve", 1);
  EntryIndex reserved_ = 0;
  bool reserving_ = false;
};

}  // namespace depfast::copilot
