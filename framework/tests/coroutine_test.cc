// Fibers on their own, and the view of suspended coroutines: dumps, wait statistics, leak checks.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/fiber.h"
#include "depfast/value_event.h"
#include "test_support.h"

namespace depfast {

// Outside the anonymous namespace: stack dumps show exported names only.
__attribute__((noinline)) void WaitDeepInside(const std::shared_ptr<IntEvent>& event, int depth) {
  if (depth > 0) {
    WaitDeepInside(event, depth - 1);
  } else {
    event->Wait();
  }
  asm volatile("");  // no tail call: each level keeps its frame
}

namespace {

using testing::Guard;
using testing::Log;
using testing::Replica;

// --- fibers on their own ---

TEST(Fiber, RunsInTurnsAndEnds) {
  Log log;
  Fiber* self = nullptr;
  Fiber fiber(64 * 1024, [&] {
    log.push_back("first");
    self->Yield();
    log.push_back("second");
  });
  self = &fiber;
  EXPECT_TRUE(log.empty()) << "a new fiber is suspended";
  fiber.Resume();
  EXPECT_EQ(log, Log{"first"});
  EXPECT_FALSE(fiber.done());
  fiber.Resume();
  EXPECT_EQ(log, (Log{"first", "second"}));
  EXPECT_TRUE(fiber.done());
}

TEST(Fiber, IsUnwoundWhenDestroyedInTheMiddle) {
  Log log;
  {
    Fiber* self = nullptr;
    Fiber fiber(64 * 1024, [&] {
      const Guard guard{log, "unwound"};
      self->Yield();
      log.push_back("not reached");
    });
    self = &fiber;
    fiber.Resume();
  }
  EXPECT_EQ(log, Log{"unwound"});
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST(Fiber, MayBeMadeAndEndedInsideACatchBlock) {
  try {
    throw std::runtime_error("outside");
  } catch (const std::exception&) {
    Fiber* self = nullptr;
    {
      Fiber unfinished(64 * 1024, [&] { self->Yield(); });
      self = &unfinished;
      unfinished.Resume();
    }
    {
      Fiber finished(64 * 1024, [] {});
      finished.Resume();
    }
    try {
      throw;
    } catch (const std::exception& error) {
      EXPECT_STREQ(error.what(), "outside");
    }
  }
}

// --- the text dump ---

TEST(Dump, ListsEverySuspendedCoroutineWithItsEventAgeAndStack) {
  Replica replica;
  const auto votes = replica.Make<IntEvent>("votes", 3);
  replica.Spawn("counts votes", [&] {
    votes->Add();
    WaitDeepInside(votes, 3);
    replica.log.push_back("counted");
  });
  replica.Run();
  replica.host.now = 2ms;
  replica.Spawn("sleeps", [&] { replica.runtime.Sleep(1s); });
  replica.Spawn("ends", [] {});
  replica.Run();
  replica.host.now = 5ms;
  const std::string dump = replica.runtime.DumpCoroutines();
  EXPECT_EQ(dump.rfind("2 suspended coroutines\n", 0), 0U) << dump;
  const auto votes_at =
      dump.find("'counts votes' waits on IntEvent votes (1 of 3) for 0.005000 s\n");
  const auto sleep_at = dump.find("'sleeps' waits on TimeoutEvent at 1.002000 s for 0.003000 s\n");
  const auto stack_at = dump.find("    at WaitDeepInside\n");
  ASSERT_NE(votes_at, std::string::npos) << dump;
  ASSERT_NE(sleep_at, std::string::npos) << dump;
  ASSERT_NE(stack_at, std::string::npos) << dump;
  EXPECT_LT(votes_at, stack_at) << dump;
  EXPECT_LT(stack_at, sleep_at) << "in order of creation, each with its own stack: " << dump;

  EXPECT_EQ(replica.runtime.DumpCoroutines(), dump) << "looking changes nothing";
  replica.Do([&] { votes->Set(3); });
  EXPECT_EQ(replica.log, Log{"counted"});
}

TEST(Dump, MayBeAskedForFromACoroutine) {
  Replica replica;
  std::string dump;
  replica.Spawn("sleeps", [&] { replica.runtime.Sleep(1s); });
  replica.Spawn("asks", [&] { dump = replica.runtime.DumpCoroutines(); });
  replica.Run();
  EXPECT_EQ(dump.rfind("1 suspended coroutine\n", 0), 0U) << dump;
  EXPECT_NE(dump.find("'sleeps'"), std::string::npos) << dump;
  EXPECT_EQ(dump.find("'asks'"), std::string::npos) << dump;
}

// --- sanitizers ---

TEST(LeaksDeathTest, MemoryHeldByASuspendedStackIsNotLeaked) {
  // The leak checker must know the coroutines' stacks. Otherwise it reports every object that a
  // waiting coroutine holds when the process exits. (Without a leak checker: trivially true.)
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        static Replica* const replica = new Replica;
        replica->Go([&] {
          const auto held = std::make_unique<std::array<char, 1000>>();
          asm volatile("" : : "r"(held.get()) : "memory");
          replica->runtime.Sleep(1h);
        });
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace depfast
