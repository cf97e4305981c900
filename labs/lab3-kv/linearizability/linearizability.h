// Linearizability: a store with concurrent clients must look like one that serves one command at a
// time.
//
// A client sends a command and receives its reply later. A store is linearizable if every command
// seems to happen at one instant between the two. That is, one order of all commands must satisfy
// two conditions. (a) A store that executes the commands in this order gives exactly the observed
// replies. (b) A command that ended before another began precedes it in the order. Commands that
// overlap in time may come in either order. (Herlihy and Wing, "Linearizability: a correctness
// condition for concurrent objects", TOPLAS 1990.)
//
//   client 1  SET x a  |-----|
//   client 2  SET x b     |------|
//   client 3  GET x                |---|         a or b: the two SETs overlap
//   client 4  GET x                       |---|  the value of client 3: no SET comes in between
//
// A command without an answer (its client gave up, or the run ended) may take effect at any moment
// after its begin, or not at all. The checker allows every such moment.
//
// The checker decides as follows:
//
// 1. Objects. A history is linearizable if and only if each object's part of it is linearizable
//    (the same paper, section 3: locality). Keys are objects. A command with several keys (MSET,
//    MGET, DEL, EXISTS) happens to all of them at one instant, so it merges its keys into one
//    object.
//
// 2. Search: every operation that may come first is tried as the first, then
//    the rest in the same way, and every configuration is tried once. (Wing and Gong, "Testing and
//    verifying concurrent objects", JPDC 1993; Lowe, "Testing for linearizability", CCPE 2017.) The
//    problem is NP-complete, so the search counts its steps and stops at a bound. Then the verdict
//    is kUndecided: for a grader this is an error of the test, never a pass. See search.h.
//
// On a violation the explanation names the key, and lists its operations up to the first reply that
// no order explains.
//
// The result does not depend on the machine: no clock, no memory order, no random draw.
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

// A reply, and the time at which the client received it.
struct KvAnswer {
  Time at{0};
  Reply reply;
};

// One operation of a history. An operation that ends at a moment overlaps one that begins at the
// same moment: time orders two operations only if one ended before the other began.
//
// Leave out operations that were certainly not executed, because a replica refused them. An
// operation whose execution is uncertain has no answer.
struct KvOperation {
  int client = 0;  // for people only: a client's operations may overlap
  ParsedCommand command;
  Time begin{0};
  std::optional<KvAnswer> answer;  // nothing: it is unknown whether and when it took effect
};

// In any order.
using KvHistory = std::vector<KvOperation>;

enum class Verdict { kLinearizable, kViolation, kUndecided };

struct LinearizabilityResult {
  Verdict verdict = Verdict::kLinearizable;
  // The cost of the decision: operations compared, and commands tried on a store.
  std::uint64_t steps = 0;

  // The following are empty if the verdict is kLinearizable.
  std::vector<std::string> keys;  // of the first object with a violation, or undecided
  std::string explanation;        // lines of text, each with a line break

  // If the verdict is kViolation: the latest operations of the object up to the reply `marked`,
  // which no order explains. Indices into the history, by begin.
  std::vector<std::size_t> window;
  std::size_t marked = 0;
};

// Decides whether `history` is linearizable, starting from a store without keys.
//
// `steps_max` bounds the search of each object, and again that of its part up to the marked reply.
// A million steps take about a second. A step remembers up to 200 bytes (more if values are long),
// so a million steps take up to 200 MB.
//
// A violation of one object is a violation, even if another object is undecided. Of several
// violations the first is reported: objects are ordered by their smallest key.
//
// Throws std::invalid_argument with a one-line message if an operation ends before it begins, or
// has an answer at kNever.
LinearizabilityResult CheckLinearizability(const KvHistory& history, std::uint64_t steps_max);

}  // namespace depfast::kv
