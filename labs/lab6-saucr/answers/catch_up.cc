#include "catch_up.h"

#include <algorithm>
#include <utility>

namespace depfast::saucr {
namespace {

// A follower joins the rounds after an answer to a catch-up request within kCatchUpTarget. The size
// of the next request doubles after an answer, and halves without one. Its timeout doubles without
// one: a follower that is only slow gets the time that it needs.
constexpr Duration kCatchUpTarget = 50ms;
constexpr std::size_t kCatchUpBytesMin = std::size_t{4} << 10;
constexpr std::size_t kCatchUpBytesMax = std::size_t{128} << 10;
constexpr Duration kCatchUpTimeoutMin = kCatchUpTarget;
constexpr Duration kCatchUpTimeoutMax = 1s;

}  // namespace

CatchUp::CatchUp(ReplicaState& state, Elections& elections, const Snapshots& snapshots,
                 Leadership& leadership, TakeReply take_reply)
    : state_(state),
      elections_(elections),
      snapshots_(snapshots),
      leadership_(leadership),
      take_reply_(std::move(take_reply)) {}

void CatchUp::FallBehind(PeerId peer, EntryIndex from) {
  Follower& follower = Of(peer);
  follower.next = std::max(std::min(follower.next, from), follower.agreed + 1);
  follower.in_rounds = false;
  ServeIfBehind(peer);
}

void CatchUp::ServeIfBehind(PeerId peer) {
  Follower& follower = Of(peer);
  const bool is_behind = leadership_.is_open() && !follower.in_rounds;
  if (!is_behind || std::exchange(follower.is_served, true)) return;
  follower.is_prompt = false;
  follower.request_bytes = kCatchUpBytesMin;
  follower.request_timeout = kCatchUpTimeoutMin;
  state_.runtime.Spawn("catch-up", [this, peer] { Serve(peer); });
}

void CatchUp::Serve(PeerId peer) {
  Runtime& runtime = state_.runtime;
  runtime.set_dependency({});  // a background task: no client asked for it
  const std::uint64_t term = elections_.term();
  const Follower& follower = Of(peer);
  // A follower that answers no beats would answer no request.
  const auto is_in_touch = [&] {
    return runtime.Now() < follower.answered_at + state_.election_timeout_min;
  };
  while (elections_.Leads(term) && !follower.in_rounds && is_in_touch()) {
    const bool compacted = follower.next <= state_.log.base_index();
    const bool answered = compacted ? SendSnapshot(peer) : SendEntries(peer);
    if (!answered) runtime.Sleep(state_.beat);  // limits retries
  }
  if (elections_.Leads(term)) Of(peer).is_served = false;
}

bool CatchUp::SendEntries(PeerId peer) {
  const std::uint64_t term = elections_.term();
  Follower& follower = Of(peer);
  const EntryIndex first = follower.next;
  const EntryIndex end = state_.EndOfChunk(first, follower.request_bytes);
  if (end > state_.last_index() && follower.is_prompt) {
    // The request reaches the end of the log: rounds may follow it on the same connection.
    follower.in_rounds = true;
    follower.next = end;
    if (first == end) return true;
  }
  const Time sent = state_.runtime.Now();
  // When its time is over, the request leaves our queue, too.
  const auto call =
      state_.runtime.rpc().Call(peer, leadership_.MakeAppend(first, end), follower.request_timeout);
  const Outcome outcome = call->Wait();
  if (!elections_.Leads(term)) return true;
  if (outcome != Outcome::kReady) {
    SlowDown(peer, first);
    return false;
  }
  const bool accepted = take_reply_(peer, call->reply());
  if (!elections_.Leads(term)) return true;
  follower.is_prompt = state_.runtime.Now() - sent < kCatchUpTarget;
  follower.request_bytes = std::min(follower.request_bytes * 2, kCatchUpBytesMax);
  return accepted || follower.next < first;
}

void CatchUp::SlowDown(PeerId peer, EntryIndex first) {
  FallBehind(peer, first);
  Follower& follower = Of(peer);
  follower.is_prompt = false;
  follower.request_bytes = std::max(follower.request_bytes / 2, kCatchUpBytesMin);
  follower.request_timeout = std::min(follower.request_timeout * 2, kCatchUpTimeoutMax);
}

bool CatchUp::SendSnapshot(PeerId peer) {
  const std::uint64_t term = elections_.term();
  const Snapshot snapshot = snapshots_.latest();  // a newer one may replace it meanwhile
  const std::size_t size = snapshot.state.size();
  std::uint64_t received = 0;
  do {
    const auto call = state_.runtime.rpc().Call(
        peer,
        InstallSnapshot{term, state_.runtime.self(), snapshot.last_index, snapshot.last_term, size,
                        received, snapshot.state.substr(received, kChunkBytes)},
        kCatchUpTimeoutMax);
    if (call->Wait() != Outcome::kReady || !elections_.Leads(term)) return false;
    elections_.Know(call->reply().term);
    received = call->reply().received;
    if (!elections_.Leads(term) || received > size) return false;  // a nonsensical answer
    Of(peer).answered_at = state_.runtime.Now();
  } while (received < size);
  leadership_.followers().HasUpTo(peer, snapshot.last_index);
  return true;
}

}  // namespace depfast::saucr
