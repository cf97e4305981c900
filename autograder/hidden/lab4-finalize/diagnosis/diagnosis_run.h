// One run of `kit diagnose`: a store under load, with one slow follower or none, and what runtime
// verification saw.
//
// The replicas are in this process: their code is the kit's own. So a run can be recorded with all
// of its waits.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast::diagnosis {

struct RunOptions {
  std::uint64_t seed = 1;
  PeerId leader = 0;      // elected before the load begins
  PeerId slow = kNobody;  // a follower, or kNobody
  Duration length{0};     // of the run, from its beginning
  std::string record;     // see testkit::Recorder; empty: none
};

inline constexpr int kReplicas = 3;

// The observations of a run:
//   {"leader": 0, "slow": 2 or null, "from_ns": .., "to_ns": ..,
//    "clients": {"offered": .., "unanswered": .., "mean_ns": .., "p50_ns": .., "p99_ns": ..},
//    "calls": .., "backlog": {"from_ns": .., "interval_ns": .., "calls": [..],
//    "held_bytes": [..]}, "warnings": [..], "graph": {..},
//    "own_waits": [{"replica": 0, "coroutine": "..", "event": "..", "count": .., "on_path": ..,
//                   "mean_ns": .., "worst_ns": ..}]}
// The figures of clients are those of commands in [from_ns, to_ns). `calls`: of the leader, without
// an answer at the end of the load. `backlog`: the same since the load began, once an interval, and
// the bytes that the leader's connections have not taken. `own_waits`: waits for nothing that a
// peer does, such as the disk or a timer; `on_path` counts those during which a client waited, too.
// `warnings` and `graph`: see depfast/verify/verification_json.h.
//
// Throws std::runtime_error, in one line, if the run is of no use: nobody leads, a replica dies, or
// an invariant of Raft or of the store is violated.
nlohmann::ordered_json Run(const RunOptions& options);

}  // namespace depfast::diagnosis
