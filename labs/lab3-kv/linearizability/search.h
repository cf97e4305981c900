// The search for an order: Wing and Gong's, with Lowe's memory, and a bound on its steps.
//
// A configuration is the set of operations ordered so far, and the store after them. The search
// starts with none, and extends a configuration by any operation that may come next: one that no
// unordered operation ended before. It is over when all completed operations are ordered, or when
// nothing is left to try. Five rules keep it small and none changes the answer:
// - A configuration is entered once (Lowe). Sets and stores are compared in full, not by hash.
// - A command whose reply proves that it changes nothing, and which can come next, comes next:
//   in whatever order it came later, it could have come now.
// - An operation without an answer is not tried if it would change nothing, or if it would make the
//   one that was tried just before, also without an answer, useless: overwrite it.
// - Of operations without an answer that are the same command, the one that began first is tried
//   first.
// - A configuration is not entered if another one with the same store and the same completed
//   operations made do with fewer of those without an answer: what it could still do, the other
//   could, too. Without this rule and the two before, n of them alone cost 2^n configurations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "depfast/time.h"
#include "linearizability/linearizability.h"
#include "linearizability/partial_store.h"

namespace depfast::kv {

// What is to be ordered. Commands and replies belong to the caller and outlive the search.
struct SearchProblem {
  struct Completed {
    Time begin{0};
    Time end{0};
    const ParsedCommand* command = nullptr;
    const Reply* reply = nullptr;
  };
  // May happen once since it began, with any reply, or not at all. Reads make no sense here.
  struct Pending {
    Time begin{0};
    const ParsedCommand* command = nullptr;
  };
  // May happen between the two times, as often as it likes, or not at all. The order of time does
  // not bind two of these to each other, only to the operations above.
  struct Loose {
    Time begin{0};
    Time end{0};
    Effect effect;
  };

  std::vector<Completed> completed;
  std::vector<Pending> pending;
  std::vector<Loose> loose;
};

struct SearchResult {
  Verdict verdict = Verdict::kUndecided;
  std::uint64_t steps = 0;  // commands and effects tried, configurations compared
  // If the verdict is not kLinearizable: the completed operation (by end, then by index) that no
  // configuration got past. All that ended before it can be explained.
  std::size_t stuck = 0;
};

SearchResult Search(const SearchProblem& problem, std::uint64_t steps_max);

}  // namespace depfast::kv
