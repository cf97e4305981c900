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
#include <vector>

#include "command_memory.h"
#include "copilot_messages.h"
#include "decisions.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "journal.h"
#include "pilots.h"
#include "replicated_log.h"

namespace depfast::copilot {

class Batches {
 public:
  using Done = std::function<void(SubmitStatus status, const CommandMemory::Result& result)>;
  // Proposes an entry, and returns once it is decided. Runs in a coroutine of its own.
  using Order = std::function<void(const FastAccept& proposal)>;
  // The longest wait for an entry of the other pilot.
  using Patience = std::function<Duration()>;

  // All must outlive this.
  Batches(Runtime& runtime, Journal& journal, const Pilots& pilots, const Decisions& decisions,
          Order order, Patience patience);

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
  void AwaitTurn();
  bool AwaitsRound();
  bool Yields() const { return runtime_.Now() < yields_until_; }
  bool HoldsBack();
  bool MayPropose(const Pending& command) const;
  void Reserve(Lane lane);
  std::vector<Pending> TakeBatch();
  void StartRound(Lane lane, const std::vector<Pending>& batch);
  bool IsTakenOver(Lane lane, EntryIndex index) const;
  EntryIndex NextIndex(Lane lane) const;

  Runtime& runtime_;
  Journal& journal_;
  const Pilots& pilots_;
  const Decisions& decisions_;
  const Order order_;
  const Patience patience_;

  std::vector<Pending> pending_;                        // not proposed yet
  std::map<std::uint64_t, std::vector<Done>> waiting_;  // by the command's name
  std::shared_ptr<ValueEvent<bool>> has_pending_;
  std::shared_ptr<ValueEvent<bool>> our_turn_;     // the other pilot has proposed after us
  std::shared_ptr<ValueEvent<bool>> round_ended_;  // since it was waited for
  int rounds_ = 0;
  bool turn_missed_ = false;  // by the other pilot, since it was in time
  Time yields_until_{0};
  EntryIndex latest_proposed_ = 0;
  // Indexes that a crash does not let this pilot forget: see journal.h.
  std::shared_ptr<ValueEvent<bool>> may_propose_;
  EntryIndex reserved_ = 0;
  bool reserving_ = false;
};

}  // namespace depfast::copilot
