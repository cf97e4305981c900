// Public tests of part 6D: crash sequences (document 003, section 5.1).
#include <gtest/gtest.h>

#include "sequence_runner.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

GRADED_TEST(SaucrSequences, TheDocumentsExample, "6d", 2,
            "Replicas 12345, 345, 45, 1245, 1, 13 and 12345 are up, one after the other. Nothing "
            "is lost, and at the end commands are committed.") {
  const Sequence example = {0b11111, 0b11100, 0b11000, 0b11011, 0b00001, 0b00101, 0b11111};
  const auto gaps = ExpectIdeal({example}, {.crashes = Crashes::kWithGaps, .world = 661});
  EXPECT_GT(gaps.fast, 0U);
  EXPECT_GT(gaps.slow, 0U);
  const auto at_once = ExpectIdeal({example}, {.crashes = Crashes::kAtOnce, .world = 662});
  EXPECT_GT(at_once.recoveries, 0U);
}

GRADED_TEST(SaucrSequences, SomeWithGaps, "6d", 3,
            "In 20 crash sequences with 50 ms between two crashes, commands are committed whenever "
            "a majority is up, and nothing is lost.") {
  ExpectIdeal(Some(TheSequences(5), 20), {.crashes = Crashes::kWithGaps, .world = 663});
}

}  // namespace
}  // namespace depfast::saucr
