// Makes a failing history small enough to understand, while it remains a proof of the violation.
//
// Removing an operation from a history is not harmless. Without a SET, the reads that saw its value
// have no order any more, although they were correct. So an operation is not removed but made
// loose. A loose operation may have its effect (see EffectsOf) at any moment between its begin and
// its end, any number of times, or not at all. Every order that explains the history explains it
// with loose operations, too. So if no order explains the kept operations while the others are
// loose, the history is a violation, and the kept operations prove it alone.
//
// During the search for a window, some loose effects are ignored: those that were certainly
// overwritten before the first kept operation began. The result stays correct, and most of the work
// is saved. In the end the overwriting operations are kept if the proof needs them.
//
// The same holds for later operations. Consider the history up to the end of one operation, where
// operations that have not ended have no answer yet. It has an order if the whole history has one.
// The first operation at whose end there is no order is the one to look at.
//
// Both proofs may be much cheaper than a search of the whole history. So a history whose search was
// undecided may still be decided here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "linearizability/linearizability.h"

namespace depfast::kv {

// Operations that cannot be explained at the end of `marked`, which is one of them, even if all
// others are loose.
struct Window {
  std::vector<std::size_t> operations;  // indices into the history, by begin
  std::size_t marked = 0;
  bool is_first = true;     // all operations that ended before `marked` can be explained
  bool is_smallest = true;  // with one more loose operation the others can be explained
};

struct WindowResult {
  std::optional<Window> window;  // nothing: no window was found within the bound
  std::uint64_t steps = 0;
};

// Requires: the operations that ended before `stuck` can be explained (SearchResult::stuck), and
// `operations` has no read without an answer.
WindowResult FindWindow(const KvHistory& history, const std::vector<std::size_t>& operations,
                        std::size_t stuck, std::uint64_t steps_max);

}  // namespace depfast::kv
