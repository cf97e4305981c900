// WindowFacts: the waits and calls of one replica in one window of time. Raw data, no verdict.
//
// A FactCollector makes them inside the replica. Warnings (warnings.h) and the slowness propagation
// graph (slowness_graph.h) are computed from them outside: a sealed replica's own conclusions about
// itself are not believed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/fields.h"
#include "depfast/peer.h"
#include "depfast/time.h"
#include "depfast/verify/latency_histogram.h"
#include "depfast/verify/wait_times.h"

namespace depfast {

// The period of verification (document 000, section 5.2.3). Windows begin at its multiples, so that
// those of all replicas of a machine agree.
inline constexpr Duration kVerificationWindow = 5s;

// The calls of a fan-out must be gone this time after its quorum's wait (FanOutFacts). Twice the
// grace of lab 4's rounds: the grace may begin a little later than the wait ends.
inline constexpr Duration kFinalizedWithin = 200ms;

// The waits of coroutines of one name on one kind of event and one set of peers. A wait counts in
// the window in which it ends.
struct WaitFacts {
  std::string coroutine{};
  std::string event{};  // its label
  int needed = 1;
  int total = 1;
  std::vector<PeerId> peers{};  // ascending; empty if the waits were on no peer
  bool has_dependency = false;  // the coroutines worked for a client or a heartbeat
  WaitTimes ended{};
  // The part of these waits during which the coroutine's request had no answer: only then a wait
  // can delay a client.
  WaitTimes on_path{};
  // Waits that have not ended with the window: their number, and the age of the oldest.
  WaitTimes open{};
  bool open_on_path = false;  // one of the open waits delays a client
  DEPFAST_FIELDS(coroutine, event, needed, total, peers, has_dependency, ended, on_path, open,
                 open_on_path)
};

// The calls of one method to one peer.
struct CallFacts {
  std::string method{};
  PeerId peer = kNobody;
  // Issued in the window, by the kind of their dependency.
  std::uint64_t for_clients = 0;
  std::uint64_t for_heartbeats = 0;
  std::uint64_t background = 0;
  // Decided in the window.
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;  // an error, or the call's own timeout
  std::uint64_t released = 0;
  LatencyHistogram latency{};  // of the answers
  // The most sends of one entry that were under way at the same time or answered: see
  // RepeatedEntries. 0 if the calls carried no entries.
  std::uint64_t sends_of_an_entry = 0;
  DEPFAST_FIELDS(method, peer, for_clients, for_heartbeats, background, answered, failed, released,
                 latency, sends_of_an_entry)
};

// A peer's part in the decisions of one kind of quorum (document 000, section 4.3.1).
struct QuorumVoter {
  PeerId peer = kNobody;
  std::uint64_t counted = 0;  // it had voted yes when the quorum became ready
  DEPFAST_FIELDS(peer, counted)
};

// The history of quorums that coroutines of one name waited for.
struct QuorumFacts {
  std::string coroutine{};
  std::string event{};
  int needed = 1;
  int total = 1;
  std::uint64_t ready = 0;            // waits that ended with a quorum
  std::vector<QuorumVoter> voters{};  // ascending by peer; a peer without a vote is missing
  DEPFAST_FIELDS(coroutine, event, needed, total, ready, voters)
};

// Coroutines of one name that waited for a quorum of their own calls, and left calls behind.
//
// Finalize is the student's code, so the runtime does not see a call of it. It sees the effect:
// some time after the quorum's wait is over, every call of the fan-out is answered, failed or
// released. The calls of a fan-out are those that the coroutine itself issued, to peers of the
// wait, before the wait ended.
struct FanOutFacts {
  std::string coroutine{};
  // Coroutines with a call that was outstanding for longer than kFinalizedWithin after the wait.
  // Each counts once in a window, in the window in which the time is over.
  std::uint64_t not_finalized = 0;
  std::vector<PeerId> peers{};  // of these calls, ascending
  DEPFAST_FIELDS(coroutine, not_finalized, peers)
};

// The requests of clients that were answered, from their arrival to the answer.
struct ClientFacts {
  PeerId client = kNobody;
  WaitTimes answered{};
  DEPFAST_FIELDS(client, answered)
};

// Parts of a window, each searched for a peer's answer: a sustained presence, as opposed to a peer
// that returns in the window's last moment.
inline constexpr int kPresenceSlots = 10;

// The answers of a peer to calls of any method.
struct PeerPresence {
  PeerId peer = kNobody;
  std::uint32_t slots_answered = 0;  // of kPresenceSlots: with at least one answer
  // Latency of answers to calls that carried entries. Others wait for no disk, so they say nothing
  // of a slow one. All answers count if no call of the window carried entries.
  LatencyHistogram latency{};
  DEPFAST_FIELDS(peer, slots_answered, latency)
};

struct WindowFacts {
  PeerId replica = kNobody;
  int replicas = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  // less than a window later if the replica's report came before it
  std::vector<WaitFacts> waits{};
  std::vector<CallFacts> calls{};
  std::vector<PeerPresence> presence{};
  std::vector<QuorumFacts> quorums{};
  std::vector<FanOutFacts> fan_outs{};
  std::vector<ClientFacts> clients{};
  DEPFAST_FIELDS(replica, replicas, begin_ns, end_ns, waits, calls, presence, quorums, fan_outs,
                 clients)
};

// Whether all numbers are within bounds in which sums and comparisons cannot overflow. A replica's
// process may report anything.
bool IsPlausible(const WindowFacts& facts);

}  // namespace depfast
