// Hidden tests of part 6D: crash sequences.
#include <gtest/gtest.h>

#include "sequence_runner.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

constexpr std::size_t kSequences = 40;

// Other ones than those of the public tests.
std::vector<Sequence> SomeOf(int replicas) {
  std::vector<Sequence> all = TheSequences(replicas);
  all.erase(all.begin());
  return Some(all, kSequences);
}

GRADED_TEST(Sequences, WithGaps, "6d", 2,
            "In 40 crash sequences of 5 and 40 of 7 replicas with gaps, commands are committed "
            "whenever a majority is up, and nothing is lost.") {
  ExpectIdeal(SomeOf(5), {.replicas = 5, .commands = 2, .world = 6100});
  ExpectIdeal(SomeOf(7), {.replicas = 7, .commands = 1, .world = 6200});
}

GRADED_TEST(
    Sequences, AtOnce, "6d", 3,
    "In crash sequences without gaps nothing is lost, and exactly those are unavailable that "
    "leave fewer than f replicas with their LLEs.") {
  ExpectIdeal(SomeOf(5), {.replicas = 5, .crashes = Crashes::kAtOnce, .world = 6300});
  ExpectIdeal(SomeOf(7), {.replicas = 7, .crashes = Crashes::kAtOnce, .world = 6400});
}

GRADED_TEST(Sequences, InAnyOrder, "6d", 2,
            "In 40 sequences with gaps, the leader crashes first, second or third.") {
  const std::vector<Sequence> all = SomeOf(5);
  std::uint64_t world = 6500;
  for (const Sequence& sequence : all) {
    const int turn = 1 + static_cast<int>(world % 3);
    ExpectIdeal({sequence}, {.leaders_turn = turn, .commands = 5, .world = world++});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace depfast::saucr
