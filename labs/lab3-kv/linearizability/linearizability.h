// Linearizability: does a store that many clients use at once look like one that serves them one
// at a time?
//
// A client sends a command and gets its reply a while later. A store is linearizable if every
// command seems to happen at one instant between the two: there is one order of all commands such
// that (a) a store that executes them in this order gives exactly the replies that were seen, and
// (b) a command that ended before another began comes before it in the order. Commands that
// overlap in time may come in either order. (Herlihy and Wing, "Linearizability: a correctness
// condition for concurrent objects", TOPLAS 1990.)
//
//   client 1  SET x a  |-----|
//   client 2  SET x b     |------|
//   client 3  GET x                |---|         a or b: the two SETs overlap
//   client 4  GET x                       |---|  what client 3 read: no SET comes in between
//
// A command without an answer (its client gave up, or the run ended) may have taken effect at any
// moment since it began, or not at all, and may yet: the checker allows all of it.
//
// How the checker decides:
//
// 1. Objects. A history is linearizable if and only if each object's part of it is (the same
//    paper, section 3: locality). Keys are objects; a command with several keys (MSET, MGET, DEL,
//    EXISTS) happens at one instant to all of them, so it merges its keys into one object.
//
// 2. Zones, for an object that is one key with nothing but SET and GET, where no two SETs write the
//    same value: then every read says which write it saw. All that touches one value must stand
//    together in the order, and the value's zone, from the first end to the last begin among these
//    operations, says where. Sorting the zones decides in O(n log n). (Gibbons and Korach, "Testing
//    shared memories", SIAM J. Computing 1997; Lee and Mathur, "Efficient decrease-and-conquer
//    linearizability monitoring", arXiv 2410.04581, who also show that all operations of one value
//    can be taken out of such a history without harm, which is why a window of two values proves a
//    violation.) See zones.h.
//
// 3. Search, for all else: whatever may be first is tried as first, then the rest in the same way,
//    and what was tried once is remembered. (Wing and Gong, "Testing and verifying concurrent
//    objects", JPDC 1993; Lowe, "Testing for linearizability", CCPE 2017.) This can take
//    exponentially long (the problem is NP-complete), so it counts its steps and stops at a bound.
//    Then the answer is kUndecided: for a grader, that is an error of the test, never a pass. See
//    search.h.
//
// On a violation, the explanation names the key, shows a smallest set of operations that cannot be
// ordered, and draws them. See shrink.h for what "smallest" means, and why it stays true.
//
// Nothing here depends on the machine: no clock, no memory order, no random draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "depfast/time.h"
#include "kv_messages.h"
#include "linearizability/parsed_command.h"

namespace depfast::kv {

// A reply, and when the client had it.
struct KvAnswer {
  Time at{0};
  Reply reply;
};

// One operation of a history. One that ends at a moment and one that begins at the same moment
// overlap: the order of time binds only if one ended before the other began.
//
// Operations that were certainly not executed (a replica refused them) are not part of a history:
// leave them out. If it is not certain, the operation has no answer.
struct KvOperation {
  int client = 0;  // for people only: a client's operations may overlap
  ParsedCommand command;
  Time begin{0};
  std::optional<KvAnswer> answer;  // nothing: unknown whether it took effect, and when
};

// In any order.
using KvHistory = std::vector<KvOperation>;

enum class Verdict { kLinearizable, kViolation, kUndecided };

struct LinearizabilityResult {
  Verdict verdict = Verdict::kLinearizable;
  // What the decision took: operations compared, and commands tried on some store.
  std::uint64_t steps = 0;

  // The following are empty if the verdict is kLinearizable.
  std::vector<std::string> keys;  // of the first object that failed, or was not decided
  std::string explanation;        // lines of text, each ended

  // If the verdict is kViolation: operations that cannot be ordered, as indices into the history,
  // by begin. `marked` is one of them: the reply to look at first.
  std::vector<std::size_t> window;
  std::size_t marked = 0;
};

// Is `history` linearizable, starting from a store without keys?
//
// `steps_max` bounds the search of each object (not its zones: they need no bound), and again the
// search for a smallest window. A million steps take about a second and, as a step remembers up to
// 200 bytes (more if values are long), up to 200 MB.
//
// A violation of one object is a violation, even if another object is undecided. If there are
// several, the first is told: objects are ordered by their smallest key.
//
// Throws std::invalid_argument, in one line, if an operation ends before it begins, or never
// (kNever) though it has an answer.
LinearizabilityResult CheckLinearizability(const KvHistory& history, std::uint64_t steps_max);

}  // namespace depfast::kv
