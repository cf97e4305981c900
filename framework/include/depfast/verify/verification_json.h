// The JSON of runtime verification, for reports and tools. Replicas and clients are PeerIds, times
// are in nanoseconds.
//
// A warning:
//   {"kind": "transient-performance", "replica": 0, "begin_ns": .., "end_ns": ..,
//    "coroutine": "replicate", "wait": "quorum 2/3", "peers": [2], "count": 812, "worst_ns": 0,
//    "active": [{"peer": 1, "answers": .., "median_ns": .., "p99_ns": .., "p999_ns": ..}],
//    "text": "one sentence"}
// A graph:
//   {"replicas": 3, "edges": [{"from": 0, "to": [1, 2], "color": "green", "needed": 2, "total": 3,
//    "coroutine": "replicate", "event": "quorum", "count": .., "total_ns": .., "mean_ns": ..,
//    "worst_ns": ..}]}
// The graphs of several processes are merged by joining their edges.
#pragma once

#include <string>
#include <vector>

#include "depfast/verify/slowness_graph.h"
#include "depfast/verify/warnings.h"

namespace depfast {

// Without line breaks.
std::string JsonOf(const Warning& warning);
std::string JsonOf(const std::vector<Warning>& warnings);
std::string JsonOf(const SlownessGraph& graph);

// A real replica's line for a window: {"replica": 0, "begin_ns": .., "end_ns": ..,
// "warnings": [..], "graph": {..}}. Its graph has the clients' waits as the replica sees them, from
// a request's arrival to the answer.
std::string JsonOf(const WindowFacts& facts);

}  // namespace depfast
