// FinalizeWorld: the world of the tests of a Raft with Finalize: lab 3's store on it, a steady load
// of SETs, and the work that replicas have left unfinished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kv_world.h"
#include "sent_entries.h"

namespace depfast::lab4 {

// The rate of a load: one command every `interval`, with a value of `bytes`.
struct Rate {
  Duration interval = 5ms;
  std::size_t bytes = 100;
};

// The calls that a leader at rest may have towards one silent follower: its heartbeats of an
// election timeout and more, and a request of catch-up.
inline constexpr std::uint64_t kCallsAtRest = 40;
// The coroutines of a replica at rest beyond those of a healthy cluster: one for each of these
// calls.
inline constexpr std::uint64_t kCoroutinesAtRest = 40;

class FinalizeWorld : public kv::KvWorld {
 public:
  // Starts the replicas, with a probe of their unfinished work.
  explicit FinalizeWorld(testkit::ClusterOptions options);

  // Sends SETs to `leader` for `duration`, and calls `sample`, unless it is null, every 50 ms. Then
  // runs until all have a reply, or for 2 s. Returns the latencies of those that were executed, in
  // the order of their ends.
  std::vector<Duration> Write(PeerId leader, Duration duration, Rate rate = {},
                              const std::function<void()>& sample = nullptr);

  // The calls of a leader to one follower that are outstanding.
  std::uint64_t CallsTo(PeerId leader, PeerId follower);
  // The calls for votes, and votes before the vote, that are outstanding.
  std::uint64_t CallsForVotes(PeerId candidate);
  // The calls of rounds, heartbeats, reads and catch-up that are outstanding, to all peers.
  std::uint64_t CallsOfAppend(PeerId replica);
  std::uint64_t Coroutines(PeerId replica);
  // The calls that a replica has given to Finalize since its start; 0, and a failure, if it does
  // not say.
  std::uint64_t Finalized(PeerId replica);

  SentEntries sent;

 private:
  kv::KvClient writer_;
  std::uint64_t written_ = 0;  // numbers the values, so that all commands differ
};

}  // namespace depfast::lab4
