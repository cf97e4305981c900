// CatchUp: a leader serves the followers that are not in rounds, with the entries that they lack or
// with a snapshot.
#pragma once

#include <functional>

#include "elections.h"
#include "leadership.h"
#include "replica_state.h"
#include "snapshots.h"

namespace depfast::saucr {

class CatchUp {
 public:
  // Takes note of an answer, and commits by it. True if it acknowledges something in our term.
  using TakeReply = std::function<bool(PeerId peer, const AppendEntriesReply& reply)>;

  // All must outlive this.
  CatchUp(ReplicaState& state, Elections& elections, const Snapshots& snapshots,
          Leadership& leadership, TakeReply take_reply);

  // Entries from `from` on may not have reached the follower: catch-up begins, or goes back.
  void FallBehind(PeerId peer, EntryIndex from);
  // All entries that the follower has not acknowledged may be such.
  void FallBehind(PeerId peer) { FallBehind(peer, Of(peer).agreed + 1); }
  // Begins catch-up, unless it is under way or the follower is in rounds. It ends when the follower
  // is in rounds, or silent: then the next answer begins it again.
  void ServeIfBehind(PeerId peer);

 private:
  void Serve(PeerId peer);
  // One catch-up request, or one snapshot. False if the next one must wait: no answer was of use.
  bool SendEntries(PeerId peer);
  bool SendSnapshot(PeerId peer);
  // A request that begins with entry `first` was not answered.
  void SlowDown(PeerId peer, EntryIndex first);
  Follower& Of(PeerId peer) { return leadership_.followers().Of(peer); }

  ReplicaState& state_;
  Elections& elections_;
  const Snapshots& snapshots_;
  Leadership& leadership_;
  const TakeReply take_reply_;
};

}  // namespace depfast::saucr
