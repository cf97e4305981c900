// Zones: decides in O(n log n) whether a register was linearizable.
//
// The object is one key with only SET and GET, and no two SETs write the same value. The cluster of
// a value is its SET and all GETs that returned it. The cluster of nil is the key's absence at the
// start and all GETs that returned nil. In any order that explains the replies, the operations of a
// cluster are adjacent, its SET first. So the history is linearizable if and only if
//
//   1. every value that was read was written,
//   2. no read ended before the SET of its value began, and
//   3. the clusters can be ordered: cluster u must come before cluster v if an operation of u ended
//      before one of v began.
//
// Let `first end` be the earliest end in a cluster, and `last begin` its latest begin. u must come
// before v if and only if u's first end is before v's last begin. If these constraints have a
// cycle, they have a cycle of two clusters (Gibbons and Korach 1997, section 4). The zone of a
// cluster is the time between its first end and its last begin. It is forward if the first end is
// before the last begin; then the key held the value for the whole zone. Otherwise the zone is
// backward; then all operations of the cluster overlap throughout the zone. Two clusters are a
// cycle in two cases: both zones are forward and overlap, or a backward zone lies inside a forward
// zone. Sorting the forward zones finds both.
//
// A SET without an answer never ends. If its value was never read, it is left out: it need not have
// happened.
//
// Other objects go to the search. These have DEL (it writes nil, which is not unique, and its reply
// is a read), other commands that read and write, or replies that no store would give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "linearizability/linearizability.h"

namespace depfast::kv {

struct ZoneResult {
  bool applies = false;     // the object is as above; otherwise only `steps` says something
  std::uint64_t steps = 0;  // operations looked at, and comparisons
  bool linearizable = true;

  // Valid if not linearizable: indices into the history, by begin, of operations that cannot be
  // ordered even alone. Without any one of the reads among them, the others could be ordered.
  std::vector<std::size_t> window;
  std::size_t marked = 0;  // the read to look at
  std::string why;         // a sentence about it; later lines are indented
};

// `operations`: the indices of an object with one key; reads without an answer left out.
ZoneResult CheckZones(const KvHistory& history, const std::vector<std::size_t>& operations);

}  // namespace depfast::kv
