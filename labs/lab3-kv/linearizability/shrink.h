// Making a failing history small enough to understand, and keeping what it says true.
//
// Taking an operation out of a history is not harmless: take out a SET, and the reads that saw it
// have no order any more, though nothing was wrong with them. So operations are not taken out, they
// are let loose: one that is left out may do to its key what it did (see EffectsOf) at any moment
// between its begin and its end, as often as it likes, or not at all. Whatever order explains the
// history explains it then, too. So if nothing explains the operations that are kept although the
// others are loose, the history is a violation, and the ones that are kept say so on their own.
//
// While a window is looked for, what was certainly overwritten before the first of the kept
// operations began is out of the game: that is as true, and it saves most of the work. What
// overwrote it is kept in the end, if it has to be.
//
// The same holds for what comes later: the history up to the end of an operation, where those that
// have not ended have no answer yet, has an order if the whole history has. The first operation at
// whose end there is none is the one to look at.
//
// Both are proofs of a violation that may be much cheaper than a search of the whole history: one
// that was given up undecided may still be decided here.
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
  bool is_first = true;     // all that ended before `marked` can be explained
  bool is_smallest = true;  // letting any one more of them loose would explain the others
};

struct WindowResult {
  std::optional<Window> window;  // nothing: none was found within the bound
  std::uint64_t steps = 0;
};

// Requires: those of `operations` that ended before `stuck` can be explained (SearchResult::stuck);
// reads without an answer are left out.
WindowResult FindWindow(const KvHistory& history, const std::vector<std::size_t>& operations,
                        std::size_t stuck, std::uint64_t steps_max);

}  // namespace depfast::kv
