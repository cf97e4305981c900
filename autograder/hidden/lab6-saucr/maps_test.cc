// Hidden tests: maps, and the acknowledgements that they allow to count.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "depfast/host/random.h"
#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"
#include "testkit/some.h"

namespace depfast::saucr {
namespace {

EntryId ValueOf(const LleMap& map, PeerId replica) {
  return map[static_cast<std::size_t>(replica)];
}

// Late messages, repeated ones, and beats, with random values.
GRADED_TEST(
    Maps, NeverGoBack, "6b", 2,
    "Of all values that messages have told it, beats among them, a map keeps the largest.") {
  Stage stage(741);
  RandomStream random(testkit::TheEnvironment().seed, 741);
  LleMap most(3);
  std::vector<std::uint64_t> terms;
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    LleMap told(3);
    for (EntryId& value : told) value = {1, random.Below(terms.size() + 2)};
    const bool is_beat = random.Below(4) == 0;
    const bool is_new = !is_beat && random.Below(2) == 0;
    if (is_new) terms.push_back(1);
    const Mode mode = random.Below(3) == 0 ? Mode::kSlow : Mode::kFast;
    AppendEntries request = is_beat ? stage.Beat(1, mode) : stage.Message(1, {}, terms, mode);
    request.map = told;
    const auto reply = stage.Ask(0, request);
    ASSERT_TRUE(reply && reply->success);
    const auto answer = stage.Ask(0, LleQuery{1, stage.NoLives()});
    ASSERT_TRUE(answer && answer->map.size() == 3);
    for (std::size_t of = 0; of < 3; ++of) {
      most[of] = std::max(most[of], told[of]);
      EXPECT_GE(answer->map[of].index, most[of].index) << Unsafe(Safety::kAcknowledgedIsKept);
      EXPECT_EQ(answer->map[of].index, most[of].index) << "the largest, after message " << i;
    }
  }
}

GRADED_TEST(Maps, AnAbsentReplicaKeepsItsValue, "6b", 1,
            "The map keeps the value of a follower that is out of rounds, in fast mode and in "
            "slow mode.") {
  SaucrWorld world({.replicas = 5, .seed = 742});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  const auto followers = world.Followers();
  std::vector<PeerId> absent;
  SentRequests<AppendEntries> sent(world.cluster);
  for (const PeerId next : {followers[0], followers[1]}) {
    ASSERT_TRUE(world.Commit(5));
    world.cluster.RunFor(30ms);
    const EntryId had = world.LastCommitted();
    absent.push_back(next);
    world.cluster.Begin(faults::PartitionFault({next}));
    world.cluster.RunFor(300ms);  // until nobody tries to serve it
    sent.Forget();
    ASSERT_TRUE(world.Commit(10));
    const EntryId last = world.LastCommitted();
    int rounds = 0;
    for (const auto& [from, to, when, request] : sent.all()) {
      if (from != world.Leader() || request.entries.empty()) continue;
      ++rounds;
      EXPECT_NE(to, next) << "a round goes to those that it names";
      EXPECT_GE(ValueOf(request.map, next), had) << Unsafe(Safety::kAcknowledgedIsKept);
      EXPECT_EQ(ValueOf(request.map, next).index, had.index)
          << "of replica " << next << ", which has had this entry, and is out of rounds";
      EXPECT_EQ(ValueOf(request.map, from).index, request.Last()) << "of the leader";
    }
    EXPECT_GT(rounds, 0);
    for (const PeerId id : testkit::Some(absent)) {
      EXPECT_EQ(world.checker.NamedLast() & std::uint64_t{1} << id, 0U) << "named: " << id;
    }
    EXPECT_LT(had, last);
  }
  EXPECT_TRUE(world.ServesAgain());
}

// Its next answer of fast mode waits for its disk, and its answers to beats do not.
void FlushAlone(SaucrWorld& world, PeerId replica) {
  const auto cut = faults::PartitionFault({replica});
  world.cluster.Begin(cut);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return world.SaysAllIsThere(replica); }, 100ms));
  world.cluster.End(cut);
  world.cluster.RunFor(250ms);  // it is in rounds again
  ASSERT_TRUE(world.SaysAllIsThere(replica));
  ASSERT_TRUE(world.WaitForMode(Mode::kFast, 300ms));
}

// The entry that the leader would append next.
EntryId NextEntry(const SaucrWorld& world) {
  return {world.checker.claims(world.Leader()).term, world.checker.CommittedUpTo() + 1};
}

GRADED_TEST(Maps, OnlyTheNamedCount, "6b", 2,
            "A follower that got an entry by catch-up does not count for it in fast mode: the "
            "entry's round has named others.") {
  SaucrWorld world({.replicas = 5, .seed = 743});
  ASSERT_TRUE(world.BeginFast(5));
  const auto followers = world.Followers();
  const PeerId late = followers[2], away = followers[3];
  ASSERT_NO_FATAL_FAILURE(FlushAlone(world, late));
  const auto cut = faults::PartitionFault({away});
  world.cluster.Begin(cut);
  world.cluster.RunFor(60ms);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast, 1ms)) << "four of five are functional";
  world.cluster.Begin(faults::FsDelay({world.Leader(), followers[0], followers[1], late}, 2s));

  const EntryId entry = NextEntry(world);
  const SentRequests<AppendEntries> sent(world.cluster);
  world.SubmitOne();
  world.cluster.RunFor(5ms);
  ASSERT_FALSE(sent.all().empty());
  world.cluster.End(cut);
  const auto has_it_by_catch_up = [&] {
    return std::ranges::any_of(sent.all(), [&](const auto& each) {
      return each.to == away && each.request.Last() >= entry.index;
    });
  };
  ASSERT_TRUE(world.cluster.RunUntil(has_it_by_catch_up, 150ms));
  world.cluster.RunFor(5ms);
  EXPECT_LT(world.LastCommitted(), entry)
      << Unsafe(Safety::kAcknowledgedIsKept)
      << "three of the replicas that its round has named have acknowledged it";
  // The next round names it, and nobody hears its answer to that for a while.
  world.cluster.Begin(faults::LinkSlow({away}, {world.Leader()}, 10ms));
  world.SubmitOne();
  world.cluster.RunFor(8ms);
  EXPECT_LT(world.LastCommitted(), entry)
      << Unsafe(Safety::kAcknowledgedIsKept) << "its answer to the next round has not arrived";
  EXPECT_TRUE(world.ServesAgain());
}

GRADED_TEST(Maps, ALateAnswerOfASuspect, "6b", 1,
            "An answer that comes after its follower is suspected counts for an entry whose round "
            "has named it, and the map has not forgotten the follower.") {
  SaucrWorld world({.replicas = 5, .seed = 744});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  const auto followers = world.Followers();
  const PeerId leader = world.Leader(), suspect = followers[2];
  world.cluster.Crash(followers[3]);
  world.cluster.RunFor(60ms);
  ASSERT_TRUE(world.BeginInMemory()) << "four of five are functional";
  world.cluster.Begin(faults::FsDelay({leader, followers[0], followers[1], suspect}, 2s));
  world.cluster.Begin(faults::LinkSlow({suspect}, {leader}, 45ms));
  const EntryId entry = NextEntry(world);
  SentRequests<AppendEntries> sent(world.cluster);
  world.SubmitOne();
  world.cluster.RunFor(42ms);
  EXPECT_EQ(world.checker.claims(leader).mode, Mode::kSlow) << "three of five answer in time";
  EXPECT_LT(world.LastCommitted(), entry) << Unsafe(Safety::kAcknowledgedIsKept);
  EXPECT_TRUE(world.cluster.RunUntil([&] { return world.LastCommitted() >= entry; }, 20ms))
      << "four replicas have acknowledged it, and all of them are named";
  world.cluster.RunFor(60ms);
  for (const auto& [from, to, when, request] : sent.all()) {
    if (from != leader) continue;
    EXPECT_GE(ValueOf(request.map, suspect).index, request.beat ? entry.index - 1 : entry.index)
        << Unsafe(Safety::kAcknowledgedIsKept) << "of the suspect";
  }
  EXPECT_GE(ValueOf(sent.all().back().request.map, suspect).index, entry.index)
      << Unsafe(Safety::kAcknowledgedIsKept);
  EXPECT_TRUE(world.ServesAgain());
}

}  // namespace
}  // namespace depfast::saucr
