#include "copilot.h"

#include "depfast/broadcast.h"
#include "quorum_event.h"
#include "settled_event.h"

namespace depfast::copilot {

// Every function below is a stub: it compiles, and does nothing. The headers are its contract, the
// handout names the order to write them in. `Our lines`: code, without comments and blank lines.

// ---- 5A and 5B: a pilot's rounds. Our lines: 95 ----

// TODO 5A: record the proposal here, broadcast it to PeersInReach, and count fast-accepts in a
// QuorumEvent. DecideFast with a fast quorum. TODO 5B: a second QuorumEvent over the same calls
// counts dependencies; without a fast quorum let a majority accept SlowDependency.
void Copilot::Propose(const FastAccept& proposal) { (void)proposal; }

// ---- 5A and 5B: every replica's votes. Our lines: 60 ----

// TODO 5A: refuse old views, decided and accepted entries, and those promised to a taker.
// Record the proposal (SetCommands, Set), write it to the journal, and suggest a later dependency
// if the proposed one is not compatible.
std::optional<EntryIndex> Copilot::RecordProposal(const FastAccept& request) {
  (void)request;
  return std::nullopt;
}

// TODO 5B: the same for a value that a majority is to accept at a ballot.
bool Copilot::RecordAccept(const Accept& request) {
  (void)request;
  return false;
}

// TODO 5B: promise to refuse lower ballots, and tell what is recorded of the entry. TODO 5D: and
// its rivals.
PrepareReply Copilot::Promise(const Prepare& request) {
  (void)request;
  return {};
}

// ---- 5C: execution. Our lines: 55 ----

// TODO 5C: NextToRun says which lane's next entry runs. Without one, wait for one event per entry.
// TODO 5D: a pilot that waits too long for the other lane's entry takes it over (rule 15).
void Copilot::RunEntries() {}

// ---- 5D: takeover. Our lines: 95 ----

// TODO 5D: ask a majority for promises, choose a value by the answers, let a majority accept it.
bool Copilot::TryTakeover(Lane lane, EntryIndex index) {
  (void)lane, (void)index;
  return false;
}

}  // namespace depfast::copilot
