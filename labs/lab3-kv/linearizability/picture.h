// A picture of overlapping operations, in text.
//
//    begin ms   end ms  client
//      12.004   14.100       3  SET x v7  |-----|            OK
//      13.000   15.250       1  GET x       |-----|          "v7"
//      15.300   16.000       2  GET x               |---|    "v6"   <--
//
// The bars show the order of begins and ends, not durations. Each moment at which an operation
// begins or ends is one column. Bars that share a column overlap.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "depfast/time.h"
#include "linearizability/linearizability.h"

namespace depfast::kv {

// A header, and one line for each of `operations` (indices into the history), in this order. An
// arrow points at `marked`, one of the operations. An operation that has not ended by `until` is
// drawn with an open end and without its reply. Of more than 40 operations, those around `marked`
// are drawn.
std::string DrawOperations(const KvHistory& history, const std::vector<std::size_t>& operations,
                           std::size_t marked, Time until);

// At most `width` characters of `text`; the last three are dots if characters are missing.
std::string Shortened(const std::string& text, std::size_t width);

}  // namespace depfast::kv
