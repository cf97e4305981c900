// Copilot (Ngo, Sen, Lloyd, OSDI 2020): no single slow replica costs the others, a leader included.
//
// Each command is given to two pilots. Each pilot orders it in its own lane, so one of them may be
// slow. A round has a fast path and a slow path, which are two quorums over the same calls
// (document 002, section 5.2). Entries run in an order that both lanes agree on. A pilot that waits
// for the other one's entry too long takes that entry over.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "copilot_base.h"
#include "copilot_rules.h"

namespace depfast {
class QuorumEvent;
}

namespace depfast::copilot {

class Copilot final : public CopilotBase {
 public:
  using CopilotBase::CopilotBase;

 private:
  // An entry that this replica proposes: two quorums over the same calls.
  struct Round {
    std::shared_ptr<QuorumEvent> fast;     // fast-accepts
    std::shared_ptr<QuorumEvent> ordered;  // dependencies, the proposed one or a later one
    std::shared_ptr<std::vector<EntryIndex>> dependencies;
    std::shared_ptr<bool> witness_accepted;  // it is among the fast-accepts
  };

  // The answers of those who have promised, by replica; none without a majority.
  using Promises = std::vector<std::pair<PeerId, PrepareReply>>;

  // --- a pilot's rounds ---
  void Propose(const FastAccept& proposal) override;
  // `own`: the dependency as recorded here.
  Round VotesOn(const Broadcast<FastAccept>& calls, const FastAccept& proposal, EntryIndex own);
  // The votes of those that are not asked are lost. Our own counts once it is durable.
  void CountTheRest(const std::shared_ptr<QuorumEvent>& quorum, const BroadcastCalls& calls,
                    bool yes = true);
  // Lets a majority accept the value at this ballot. Returns whether it did.
  bool AcceptByMajority(Lane lane, EntryIndex index, Ballot ballot, const Decided& value);

  // --- every replica's votes ---
  std::optional<EntryIndex> RecordProposal(const FastAccept& request) override;
  bool RecordAccept(const Accept& request) override;

  // --- execution ---
  void RunEntries() override;
  void Run(Lane lane);
  void AwaitNext();
  // A pilot's next entry is decided, and waits for this entry of the other lane.
  std::optional<std::pair<Lane, EntryIndex>> WaitedFor() const;

  // --- takeover ---
  bool TryTakeover(Lane lane, EntryIndex index) override;
  PrepareReply Promise(const Prepare& request) override;
  Promises AskForPromises(const Prepare& request);

  std::pair<Lane, EntryIndex> waits_for_;  // the entry of the other lane, and since when
  Time waits_since_{0};
};

}  // namespace depfast::copilot
