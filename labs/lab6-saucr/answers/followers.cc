#include "followers.h"

#include <algorithm>
#include <utility>

namespace depfast::saucr {

void Followers::BeginTerm(EntryIndex last, const std::vector<PeerId>& in_rounds) {
  const auto replicas = static_cast<std::size_t>(runtime_.replicas());
  followers_.assign(replicas, Follower{.next = last + 1, .answered_at = runtime_.Now()});
  acks_.assign(replicas, Acks());
  for (const PeerId peer : in_rounds) Of(peer).in_rounds = true;
  Of(runtime_.self()).in_rounds = true;  // its own
}

std::vector<PeerId> Followers::InRounds() const {
  std::vector<PeerId> in_rounds;
  for (const PeerId peer : runtime_.peers()) {
    if (followers_[static_cast<std::size_t>(peer)].in_rounds) in_rounds.push_back(peer);
  }
  return in_rounds;
}

// ---- acknowledgements ----

void Followers::Name(const std::vector<PeerId>& replicas, EntryIndex first, EntryIndex end) {
  for (const PeerId peer : replicas) {
    Follower& follower = Of(peer);
    Acks& acks = acks_[static_cast<std::size_t>(peer)];
    // A round before this one has not named it: its answers to that one count no longer.
    if (acks.named_from == 0 || follower.named_until + 1 != first) acks.named_from = first;
    follower.named_until = end - 1;
    follower.next = end;
    Count(peer);
  }
}

void Followers::Note(PeerId peer, const AppendEntriesReply& reply, const Lives& lives) {
  Acks& acks = acks_[static_cast<std::size_t>(peer)];
  acks.durable = std::max(acks.durable, reply.durable);
  // A memory that is gone has acknowledged this (R17).
  if (reply.life < lives[static_cast<std::size_t>(peer)]) return;
  acks.life = reply.life;
  HasUpTo(peer, reply.match);
  Count(peer);
}

void Followers::ForgetBuffered(PeerId peer) {
  Of(peer).agreed = acks_[static_cast<std::size_t>(peer)].durable;
  Count(peer);
}

void Followers::NoteOwnDisk(EntryIndex durable) {
  EntryIndex& known = acks_[static_cast<std::size_t>(runtime_.self())].durable;
  known = std::max(known, durable);
}

void Followers::HasUpTo(PeerId peer, EntryIndex index) {
  Follower& follower = Of(peer);
  follower.agreed = std::max(follower.agreed, index);
  follower.next = std::max(follower.next, follower.agreed + 1);
}

// An answer to a catch-up request may be ahead of the latest round that has named the replica.
void Followers::Count(PeerId peer) {
  const Follower& follower = Of(peer);
  acks_[static_cast<std::size_t>(peer)].buffered = std::min(follower.agreed, follower.named_until);
}

// ---- beats ----

bool Followers::HasAnsweredBeat(PeerId peer) const {
  return std::ranges::any_of(
      beat_, [peer](const auto& call) { return call->peer() == peer && call->IsReady(); });
}

int Followers::CountFunctional() {
  const auto in_rounds = InRounds();
  const auto answered = [this](PeerId peer) { return HasAnsweredBeat(peer); };
  return 1 + static_cast<int>(std::ranges::count_if(in_rounds, answered));
}

std::vector<PeerId> Followers::Suspects() {
  auto suspects = InRounds();
  std::erase_if(suspects, [this](PeerId peer) { return HasAnsweredBeat(peer); });
  return suspects;
}

bool Followers::HasMajoritySince(Time since, const Quorums& quorums) const {
  const auto answered = [&](PeerId peer) {
    return followers_[static_cast<std::size_t>(peer)].answered_at >= since;
  };
  return 1 + std::ranges::count_if(runtime_.peers(), answered) >= quorums.majority();
}

}  // namespace depfast::saucr
