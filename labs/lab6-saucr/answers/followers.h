// Followers: a leader's knowledge of each replica in its term. Given, not submitted.
//
// A follower in rounds gets every round. One that does not answer a beat, or that refuses a round,
// falls behind: catch-up requests serve it, one at a time, until it is in rounds again.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/runtime.h"
#include "saucr_messages.h"

namespace depfast::saucr {

struct Follower {
  bool in_rounds = false;
  bool is_served = false;  // a coroutine sends catch-up requests: it is not in rounds, and answers
  EntryIndex next = 1;     // the first entry that is neither acknowledged nor on its way
  // Its log agrees with the leader's up to here, in the life of its latest answer.
  EntryIndex agreed = 0;
  EntryIndex named_until = 0;  // the last entry of the latest round that named it
  Time answered_at{0};         // its latest answer in this term

  // State of catch-up.
  bool is_prompt = false;         // its latest answer was: it may join the rounds
  std::size_t request_bytes = 0;  // of the next request
  Duration request_timeout{0};    // of the next request
};

class Followers {
 public:
  explicit Followers(Runtime& runtime) : runtime_(runtime) {}

  // A term begins behind entry `last`. The replicas of `in_rounds` are up: they have just voted.
  void BeginTerm(EntryIndex last, const std::vector<PeerId>& in_rounds);

  Follower& Of(PeerId peer) { return followers_[static_cast<std::size_t>(peer)]; }
  std::vector<PeerId> InRounds() const;
  // By replica; see Acks.
  const std::vector<Acks>& acks() const { return acks_; }

  // A round with the entries [first, end) names the replicas.
  void Name(const std::vector<PeerId>& replicas, EntryIndex first, EntryIndex end);
  // A replica has acknowledged entries. `lives`: the latest known, this reply's among them.
  void Note(PeerId peer, const AppendEntriesReply& reply, const Lives& lives);
  // A replica that has started anew has forgotten what it had buffered, and nothing else (R17).
  void ForgetBuffered(PeerId peer);
  // The leader's own disk has the entries up to there.
  void NoteOwnDisk(EntryIndex durable);
  // It has an entry of a snapshot, and all before it.
  void HasUpTo(PeerId peer, EntryIndex index);

  // The calls of the latest beat.
  void SentBeat(const BroadcastCalls& calls) { beat_ = calls.all(); }
  // The replicas that have answered the latest beat, and are in rounds; the leader is one more.
  int CountFunctional();
  // Those in rounds that have not answered it.
  std::vector<PeerId> Suspects();
  // Whether a majority has answered something since then, the leader included.
  bool HasMajoritySince(Time since, const Quorums& quorums) const;

 private:
  bool HasAnsweredBeat(PeerId peer) const;
  void Count(PeerId peer);

  Runtime& runtime_;
  std::vector<Follower> followers_;  // by replica, the leader's own included
  std::vector<Acks> acks_;
  std::vector<std::shared_ptr<RpcCall>> beat_;
};

}  // namespace depfast::saucr
