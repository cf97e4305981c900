// Every short script on a small quorum.
#include "small_scopes.h"

#include "script_runner.h"

namespace depfast::lab1 {
namespace {

GRADED_TEST(QuorumVotes, EveryShortScript, "votes", 2,
            "For every order of up to four votes, duplicates and changes of mind included, counts "
            "and outcomes are those of the definition") {
  for (int total = 1; total <= 3; ++total) {
    ASSERT_TRUE(EveryScriptPasses({.total = total, .steps = 4}));
  }
}

GRADED_TEST(QuorumWaits, EveryShortScript, "time", 2,
            "For every order of a few votes and waits, every wait ends with the right outcome at "
            "the right moment") {
  const std::vector<Duration> waits = {0ms, kShort, kLong};
  ASSERT_TRUE(EveryScriptPasses({.total = 1, .steps = 4, .waits = waits}));
  ASSERT_TRUE(EveryScriptPasses({.total = 2, .steps = 4, .waits = waits}));
  ASSERT_TRUE(EveryScriptPasses({.total = 3, .steps = 3, .waits = waits}));
}

GRADED_TEST(QuorumChildren, EveryShortScript, "children", 2,
            "For every order of a few votes, waits, and children that are added and decided, "
            "each child votes once, by its own accept, and lives as long as the quorum") {
  ASSERT_TRUE(EveryScriptPasses({.total = 1, .steps = 4, .promises = 2, .waits = {kShort}}));
  ASSERT_TRUE(EveryScriptPasses({.total = 2,
                                 .steps = 4,
                                 .promises = 2,
                                 .accepts = {Accept::kTrue, Accept::kFalse},
                                 .waits = {kShort}}));
  ASSERT_TRUE(EveryScriptPasses({.total = 3, .steps = 3, .promises = 2, .waits = {kShort}}));
}

}  // namespace
}  // namespace depfast::lab1
