// The search for an order: Wing and Gong's, with Lowe's memory, and a bound on its steps.
//
// A configuration is the set of operations ordered so far, and the store after them. The search
// starts with the empty set. It extends a configuration by any operation that may come next: an
// operation before whose begin no unordered operation ended. The search ends when all completed
// operations are ordered, or when nothing is left to try. Five rules keep it small, and none
// changes the answer:
// - A configuration is entered once (Lowe). Sets and stores are compared in full, not by hash.
// - A command that can come next, and whose reply proves that it changes nothing, comes next. Any
//   order that has it later stays valid if it comes now.
// - An operation without an answer is not tried if it would change nothing. Nor is it tried if it
//   would overwrite the operation before it, and that one has no answer either.
// - Of equal commands without an answer, the one that began first is tried first.
// - A configuration may have the same store and the same completed operations as an entered one. It
//   is not entered if the entered one used a subset of its operations without an answer: that one
//   can still do everything that this one can. Without this rule and the two before it, n
//   operations without an answer cost 2^n configurations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "depfast/time.h"
#include "linearizability/linearizability.h"

namespace depfast::kv {

// The operations to be ordered. Commands and replies belong to the caller and outlive the search.
struct SearchProblem {
  struct Completed {
    Time begin{0};
    Time end{0};
    const ParsedCommand* command = nullptr;
    const Reply* reply = nullptr;
  };
  // An operation without an answer. May happen once after its begin, with any reply, or not at all.
  // Requires: the command is not a read.
  struct Pending {
    Time begin{0};
    const ParsedCommand* command = nullptr;
  };
  // Adds an operation of a history, which outlives the search. Requires: a read has ended, and an
  // operation that has ended has an answer.
  void Add(const KvOperation& operation, bool has_ended) {
    const auto& [client, command, begin, answer] = operation;
    if (has_ended) {
      completed.push_back({begin, answer->at, &command, &answer->reply});
    } else {
      pending.push_back({begin, &command});
    }
  }

  std::vector<Completed> completed;
  std::vector<Pending> pending;
};

struct SearchResult {
  Verdict verdict = Verdict::kUndecided;
  std::uint64_t steps = 0;  // commands tried, configurations compared
  // Valid if the verdict is not kLinearizable: the first completed operation (by end, then by
  // index) that no configuration could order. The operations that ended before it can be explained.
  std::size_t stuck = 0;
};

SearchResult Search(const SearchProblem& problem, std::uint64_t steps_max);

}  // namespace depfast::kv
