// Replica: the parts of the given half, tied together. It starts them, and serves messages.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "beats.h"
#include "catch_up.h"
#include "commits.h"
#include "data_transfer.h"
#include "depfast/value_event.h"
#include "elections.h"
#include "leadership.h"
#include "replica_state.h"
#include "rounds.h"
#include "saucr_base.h"
#include "snapshots.h"
#include "state_machine.h"

namespace depfast::saucr {

struct Replica final : ElectionUser {
  // All must outlive this.
  Replica(Runtime& runtime, StateMachine& machine, const SaucrOptions& options, SaucrHooks& hooks);

  void Start();
  void Stop();
  void SetRecovered(EntryId lle);
  // See SaucrBase.
  std::vector<EntryId> AppendNew(const AppendEntries& request);
  AppendEntriesReply Answer(EntryIndex match) const;

  void OnElected(const std::vector<Vote>& votes) override;
  void OnFollows() override { rounds.GiveUp(); }

  // Serves a method of leaders in a coroutine. A recovering replica does not answer (R20).
  template <typename Request>
  void Serve(std::function<typename Request::Reply(const Request&)> handler);
  void RegisterHandlers();
  void Recover();
  void OpenTerm(std::uint64_t term, const std::vector<PeerId>& voters);
  AppendEntriesReply OnAppendEntries(const AppendEntries& request);
  AppendEntriesReply Refuse(EntryIndex conflict) const;

  SaucrHooks& hooks;
  ReplicaState state;
  Elections elections;
  Snapshots snapshots;
  Commits commits;
  Leadership leadership;
  CatchUp catch_up;
  Rounds rounds;
  Beats beats;
  DataTransfer transfer;
  // Ready once the state is that of the disk.
  std::shared_ptr<IntEvent> started = std::make_shared<IntEvent>("start", 1);
  SignOfLife unanswered;  // the latest message of a leader that was not answered
};

}  // namespace depfast::saucr
