// Leadership: what a replica has while it leads, and the messages that it sends then.
#pragma once

#include <vector>

#include "elections.h"
#include "followers.h"
#include "replica_state.h"
#include "saucr_messages.h"

namespace depfast::saucr {

class Leadership {
 public:
  // Both must outlive this.
  Leadership(ReplicaState& state, const Elections& elections)
      : state_(state), elections_(elections), followers_(state.runtime) {}

  // A term begins, in slow mode (R8). It is not open: the leader may lack data.
  void Begin();
  // The leader has its data, and proposes. The voters are up: they take part in rounds at once.
  void Open(const std::vector<PeerId>& voters);

  bool is_open() const { return is_open_; }
  // No entry has so large an index before the term is open.
  EntryIndex term_began_at() const { return term_began_at_; }
  const ModeState& mode() const { return mode_; }
  void SetMode(const ModeState& mode);
  Followers& followers() { return followers_; }
  const Followers& followers() const { return followers_; }

  // The entries [first, end), as a message. Requires: the log knows entry first - 1.
  AppendEntries MakeAppend(EntryIndex first, EntryIndex end) const;
  AppendEntries MakeBeat() const;

 private:
  ReplicaState& state_;
  const Elections& elections_;
  Followers followers_;
  ModeState mode_;
  EntryIndex term_began_at_ = 0;
  bool is_open_ = false;
};

}  // namespace depfast::saucr
