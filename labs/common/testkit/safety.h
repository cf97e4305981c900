// Safety: the properties that a test of a replicated log may show broken by an assertion of its
// own, as checkers do by an invariant. Each of them says that nothing acknowledged is lost, and
// that nothing is decided twice. A grade charges the lab for one, whichever test shows it
// (site/docs/grading.md, "Safety comes before points").
#pragma once

#include <cstdint>

namespace depfast {

enum class Safety : std::uint8_t {
  kAcknowledgedIsKept,  // what a client or a leader was told to be stored is never lost
  kOneVote,             // a replica votes for one candidate in a term
  kOneValue,            // an entry is decided once, the same everywhere, and has its commands
  kEqualStates,         // replicas that have run the same entries have the same state
  kDurablePromise,      // what a replica has promised is on its disk, also after a crash
  kReadsSeeAll,         // a read sees each write that was acknowledged before it began
  kOnce,                // a command runs once, and one that was refused never
};

// "one vote per term": the name that a report prints.
const char* ToString(Safety property);

// For the words of an assertion whose failure breaks `property`:
//   EXPECT_FALSE(second.granted) << Unsafe(Safety::kOneVote) << "a second candidate of the term";
// Tells the grader if this is the test's first failure: later ones may be consequences, such as of
// a replica that does not answer. Returns "". GoogleTest asks for words when an assertion fails.
const char* Unsafe(Safety property);

}  // namespace depfast
