// Zones: whether a register was linearizable, in O(n log n).
//
// The object is one key with nothing but SET and GET, and no two SETs write the same value. The
// cluster of a value is its SET and all GETs that returned it; the cluster of nil is the key's
// absence at the start and all GETs that returned nil. In any order that explains the replies,
// each cluster stands together, its SET first. So the history is linearizable if and only if
//
//   1. every value that was read was written,
//   2. no read ended before the SET of its value began, and
//   3. the clusters can be ordered: u must come before v if an operation of u ended before one of v
//      began.
//
// Let `first end` be the earliest end in a cluster, and `last begin` its latest begin. u must come
// before v if and only if u's first end is before v's last begin, and if that makes a cycle at all,
// it makes one of two clusters (Gibbons and Korach 1997, section 4). The zone of a cluster is the
// time between the two. It is forward if the first end is before the last begin (then the value
// was there for the whole zone), else backward (all its operations overlap all through the zone).
// Two clusters are a cycle if and only if both zones are forward and overlap, or one is backward
// and lies inside the other, which is forward. Sorting the forward zones finds both.
//
// A SET without an answer ends never. If nobody read its value, it is left out: it need not have
// happened.
//
// What zones do not cover goes to the search: DEL (it writes nil, which is not unique, and its
// reply is a read), every other command that reads and writes, and replies no store would give.
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

  // If it is not: indices into the history, by begin, of operations that cannot be ordered even if
  // they are all there is. Without any one of the reads among them, the rest could be.
  std::vector<std::size_t> window;
  std::size_t marked = 0;  // the read to look at
  std::string why;         // a sentence about it; of several lines, the later ones are indented
};

// `operations`: the indices of an object with one key; reads without an answer left out.
ZoneResult CheckZones(const KvHistory& history, const std::vector<std::size_t>& operations);

}  // namespace depfast::kv
