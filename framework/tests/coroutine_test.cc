// What a coroutine may do: throw, wait inside a catch block, be ended, overflow, be many, be seen.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/scheduler.h"
#include "core/stack_overflow.h"
#include "depfast/timeout_event.h"
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

using testing::Log;
using testing::Replica;

// Logs its end.
struct Guard {
  Log& log;
  const char* name;
  ~Guard() { log.push_back(name); }
};

// --- exceptions ---

TEST(Exceptions, EscapeRunWithTheirType) {
  struct Special : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  Replica replica;
  replica.Spawn("thrower", [&] {
    replica.runtime.Sleep(1ms);
    throw Special("from a coroutine");
  });
  replica.Run();
  try {
    replica.Advance(1ms);
    FAIL() << "nothing escaped";
  } catch (const Special& error) {
    EXPECT_STREQ(error.what(), "from a coroutine");
  }
}

TEST(Exceptions, EndTheStepButNotTheOtherCoroutines) {
  Replica replica;
  replica.Spawn("thrower", [] { throw 17; });
  replica.Spawn("other", [&] { replica.log.push_back("other"); });
  EXPECT_THROW(replica.Run(), int);
  EXPECT_TRUE(replica.log.empty());
  EXPECT_NO_THROW(replica.Run()) << "an exception escapes once";
  EXPECT_EQ(replica.log, Log{"other"});
}

TEST(Exceptions, MayBeCaughtAroundAWait) {
  Replica replica;
  replica.Go([&] {
    try {
      replica.runtime.Sleep(1ms);
      throw std::runtime_error("after the wait");
    } catch (const std::runtime_error& error) {
      replica.log.push_back(error.what());
    }
  });
  replica.Advance(1ms);
  EXPECT_EQ(replica.log, Log{"after the wait"});
}

TEST(Exceptions, WaitingInsideCatchBlocksKeepsThemApart) {
  // Boost before 1.88 shares the "caught exceptions" stack among coroutines: these two would then
  // rethrow each other's.
  Replica replica;
  std::vector<int> rethrown(2, -1);
  for (int self = 0; self < 2; ++self) {
    replica.Spawn("catcher", [&, self] {
      try {
        try {
          throw self;
        } catch (int) {
          for (int i = 0; i < 3; ++i) replica.runtime.Sleep(1ms);
          EXPECT_EQ(std::uncaught_exceptions(), 0);
          throw;
        }
      } catch (int number) {
        replica.runtime.Sleep(self == 0 ? 5ms : 1ms);  // they leave in the other order
        rethrown[static_cast<std::size_t>(self)] = number;
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    });
  }
  replica.Spawn("onlooker", [&] {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(std::current_exception(), nullptr) << "another coroutine's exception is visible";
      replica.runtime.Sleep(500us);
    }
  });
  replica.Run();
  replica.Advance(20ms);
  EXPECT_EQ(rethrown, (std::vector<int>{0, 1}));
  EXPECT_EQ(std::current_exception(), nullptr);
}

TEST(Exceptions, NestedCatchBlocksSurviveInterleavedWaits) {
  Replica replica;
  std::array<std::string, 2> seen;
  for (std::size_t self = 0; self < 2; ++self) {
    replica.Spawn("nested", [&, self] {
      const std::string mine = std::to_string(self);
      try {
        throw std::runtime_error("outer " + mine);
      } catch (const std::exception&) {
        replica.runtime.Sleep(1ms);
        try {
          throw std::logic_error("inner " + mine);
        } catch (const std::exception&) {
          replica.runtime.Sleep(1ms);
          try {
            throw;
          } catch (const std::exception& error) {
            seen[self] += error.what();
          }
        }
        replica.runtime.Sleep(1ms);
        try {
          throw;
        } catch (const std::exception& error) {
          seen[self] += std::string(", ") + error.what();
        }
      }
    });
  }
  replica.Run();
  replica.Advance(10ms);
  EXPECT_EQ(seen[0], "inner 0, outer 0");
  EXPECT_EQ(seen[1], "inner 1, outer 1");
}

TEST(Exceptions, WaitingInADestructorThatRunsDuringUnwindingCountsRightly) {
  // Not a thing to imitate, but scope guards do it, and std::uncaught_exceptions is what they ask.
  struct Waits {
    Replica& replica;
    ~Waits() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      replica.runtime.Sleep(1ms);
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
  };
  Replica replica;
  replica.Spawn("unwinding", [&] {
    try {
      const Waits waits{replica};
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
      replica.log.push_back("caught");
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
  replica.Spawn("onlooker", [&] { EXPECT_EQ(std::uncaught_exceptions(), 0); });
  replica.Run();
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  replica.Advance(1ms);
  EXPECT_EQ(replica.log, Log{"caught"});
}

TEST(Exceptions, TheHostMayStepAReplicaInsideItsOwnCatchBlock) {
  Replica replica;
  try {
    throw std::runtime_error("the host's");
  } catch (const std::exception&) {
    replica.Go([&] {
      EXPECT_EQ(std::current_exception(), nullptr);
      try {
        throw 1;
      } catch (int) {
        replica.runtime.Sleep(1ms);
      }
    });
    replica.Advance(1ms);
    try {
      throw;
    } catch (const std::exception& error) {
      EXPECT_STREQ(error.what(), "the host's");
    }
  }
}

// --- the end of a replica ---

TEST(Shutdown, RunsTheDestructorsOnEverySuspendedStack) {
  Log log;
  const auto replica = std::make_unique<Replica>();
  const auto event = replica->Make<IntEvent>("never", 1);
  replica->Spawn("waits", [&] {
    const Guard outer{log, "waits, outer"};
    const Guard inner{log, "waits, inner"};
    event->Wait();
    log.push_back("not reached");
  });
  replica->Spawn("sleeps", [&] {
    const Guard guard{log, "sleeps"};
    replica->runtime.Sleep(1h);
    log.push_back("not reached");
  });
  replica->Run();
  EXPECT_TRUE(log.empty());
  replica->runtime.Shutdown();
  EXPECT_EQ(log, (Log{"waits, inner", "waits, outer", "sleeps"}));
  replica->runtime.Shutdown();
  EXPECT_EQ(log.size(), 3U) << "Shutdown may be called twice";
}

TEST(Shutdown, HappensInTheDestructorAtTheLatest) {
  Log log;
  auto replica = std::make_unique<Replica>();
  Runtime& runtime = replica->runtime;
  replica->Go([&] {
    const Guard guard{log, "ended"};
    runtime.Sleep(1h);
  });
  replica.reset();
  EXPECT_EQ(log, Log{"ended"});
}

TEST(Shutdown, NeverRunCoroutinesDropTheirBodyWithoutRunningIt) {
  Log log;
  Replica replica;
  const auto held = std::make_shared<int>(1);
  replica.Go([] {});  // an idle worker, so that one is reused and one is new
  for (int i = 0; i < 2; ++i) replica.Spawn("never run", [&log, held] { log.push_back("ran"); });
  EXPECT_EQ(held.use_count(), 3);
  replica.runtime.Shutdown();
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Shutdown, EndsCoroutinesThatAreRunnable) {
  RuntimeOptions options;
  options.resumes_per_step_max = 10;
  Replica replica(options);
  Log log;
  replica.Spawn("yielded", [&] {
    const Guard guard{log, "yielded"};
    for (;;) replica.runtime.Yield();
  });
  replica.Spawn("yielded too", [&] {
    const Guard guard{log, "yielded too"};
    for (;;) replica.runtime.Yield();
  });
  EXPECT_THROW(replica.Run(), RunawayError);
  replica.runtime.Shutdown();
  EXPECT_EQ(log, (Log{"yielded", "yielded too"}));
}

TEST(Shutdown, EndsACoroutineThatWasWokenButHasNotRunYet) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("go", 1);
  Log log;
  replica.Go([&] {
    const Guard guard{log, "ended"};
    event->Wait();
    log.push_back("went on");
  });
  replica.In([&] { event->Set(1); });
  replica.runtime.Shutdown();
  EXPECT_EQ(log, Log{"ended"});
}

TEST(Shutdown, IsNoStandardException) {
  Replica replica;
  Log log;
  replica.Go([&] {
    try {
      replica.runtime.Sleep(1h);
    } catch (const std::exception&) {
      log.push_back("taken for an error");
    }
  });
  replica.runtime.Shutdown();
  EXPECT_TRUE(log.empty());
}

TEST(Shutdown, AllowsCatchAllThatRethrows) {
  Replica replica;
  Log log;
  replica.Go([&] {
    try {
      replica.runtime.Sleep(1h);
    } catch (...) {
      log.push_back("cleaned up");
      throw;
    }
    log.push_back("not reached");
  });
  replica.runtime.Shutdown();
  EXPECT_EQ(log, Log{"cleaned up"});
}

TEST(Shutdown, ForgivesACatchAllThatSwallowsAndThenEnds) {
  Replica replica;
  Log log;
  replica.Go([&] {
    try {
      replica.runtime.Sleep(1h);
    } catch (...) {
    }
    log.push_back("ended by itself");
  });
  replica.runtime.Shutdown();
  EXPECT_EQ(log, Log{"ended by itself"});
}

TEST(Shutdown, DestructorsMayUseTheRuntime) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("done", 1);
  struct Busy {
    Replica& replica;
    std::shared_ptr<IntEvent> event;
    ~Busy() {
      replica.runtime.Spawn("too late", [] { ADD_FAILURE() << "spawned after the end"; });
      event->Set(1);  // wakes the other one, who is about to be ended, or was
    }
  };
  for (int i = 0; i < 2; ++i) {
    replica.Spawn("busy", [&] {
      const Busy busy{replica, event};
      event->Wait();
    });
  }
  replica.Run();
  replica.runtime.Shutdown();
  EXPECT_TRUE(event->IsReady());
}

TEST(Shutdown, EventsMayBeSetAfterwards) {
  // A service is destroyed after its coroutines, and its destructors may still decide events.
  Replica replica;
  const auto event = replica.Make<IntEvent>("late", 1);
  replica.Go([&] { event->Wait(); });
  replica.runtime.Shutdown();
  replica.In([&] { event->Set(1); });
  EXPECT_NO_THROW(replica.Run());
}

TEST(Shutdown, ExceptionsThrownWhileUnwindingStayInside) {
  Replica replica;
  replica.Go([&] {
    try {
      replica.runtime.Sleep(1h);
    } catch (...) {
      throw std::runtime_error("on the way out");
    }
  });
  EXPECT_NO_THROW(replica.runtime.Shutdown());
}

TEST(ShutdownDeathTest, SwallowingTheEndForEverAborts) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        Replica replica;
        replica.Spawn("stubborn", [&] {
          for (;;) {
            try {
              replica.runtime.Sleep(1h);
            } catch (...) {
            }
          }
        });
        replica.Run();
        replica.runtime.Shutdown();
      },
      "coroutine 'stubborn' swallows its own end");
}

// --- stacks ---

// Never returns: every level keeps some of the stack, and no level is a loop.
int Recurse(int depth) {
  std::array<volatile char, 512> frame{};
  frame[static_cast<std::size_t>(depth) % frame.size()] = static_cast<char>(depth);
  return depth < 0 ? 0 : Recurse(depth + 1) + frame[0];
}

void UseALargeArray() {
  std::array<volatile char, 400 * 1024> array;  // larger than the stack and its guard
  array[0] = 1;
  asm volatile("" : : "r"(array.data()) : "memory");  // else an optimiser keeps the one element
}

TEST(StackOverflowDeathTest, NamesTheCoroutine) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        InstallStackOverflowHandler();
        Replica replica;
        replica.Spawn("innocent", [&] { replica.runtime.Sleep(1ms); });
        replica.Spawn("bottomless", [&] {
          replica.runtime.Yield();
          std::printf("%d", Recurse(0));
        });
        replica.Run();
      },
      ::testing::KilledBySignal(SIGSEGV), "stack overflow in coroutine 'bottomless'");
}

TEST(StackOverflowDeathTest, AnArrayLargerThanTheGuardIsCaughtToo) {
  // -fstack-clash-protection touches every page on the way, so the guard cannot be jumped over.
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        InstallStackOverflowHandler();
        Replica replica;
        replica.Go([] { UseALargeArray(); });
      },
      ::testing::KilledBySignal(SIGSEGV), "stack overflow in coroutine 'test'");
}

TEST(StackOverflowDeathTest, AnOrdinaryFaultIsNotCalledAnOverflow) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        InstallStackOverflowHandler();
        Replica replica;
        replica.Go([] {
          std::fputs("about to fault\n", stderr);
          volatile std::uintptr_t nowhere = 64;
          *reinterpret_cast<volatile int*>(nowhere) = 1;
        });
      },
      ::testing::KilledBySignal(SIGSEGV), "^about to fault\n$");
}

TEST(StackOverflowDeathTest, ASignalFromOutsideStillKills) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        InstallStackOverflowHandler();
        std::raise(SIGSEGV);
        std::fputs("survived", stderr);
      },
      ::testing::KilledBySignal(SIGSEGV), "^$");
}

TEST(Stacks, TwentyThousandCoroutinesMayBeSuspendedAtOnce) {
  constexpr int kCoroutines = 20'000;
  RuntimeOptions options;
  options.stack_bytes = 64 * 1024;
  Replica replica(options);
  const auto event = replica.Make<IntEvent>("go", 1);
  int woken = 0;
  for (int i = 0; i < kCoroutines; ++i) {
    replica.Spawn("one of many", [&] {
      event->Wait();
      ++woken;
    });
  }
  replica.Run();
  EXPECT_EQ(woken, 0);
  replica.In([&] { event->Set(1); });
  replica.Run();
  EXPECT_EQ(woken, kCoroutines);
}

TEST(Stacks, AreReusedByLaterTasks) {
  Replica replica;
  std::byte* stack = nullptr;
  for (int i = 0; i < 100; ++i) {
    replica.Go([&] {
      auto* const here = replica.runtime.scheduler().current()->stack().guard;
      EXPECT_TRUE(stack == nullptr || stack == here);
      stack = here;
    });
  }
}

TEST(Stacks, HaveTheSizeAskedForAndAGuardBelow) {
  RuntimeOptions options;
  options.stack_bytes = 100'000;  // not a multiple of a page
  Replica replica(options);
  replica.Go([&] {
    const StackBounds& stack = replica.runtime.scheduler().current()->stack();
    EXPECT_GE(stack.top - stack.bottom, 100'000);
    EXPECT_GE(stack.bottom - stack.guard, 4096);
  });
}

TEST(Stacks, AnImpossibleStackIsRefusedWithAdvice) {
  RuntimeOptions options;
  options.stack_bytes = std::size_t{1} << 47;  // more than there are addresses
  Replica replica(options);
  try {
    replica.Spawn("huge", [] {});
    FAIL() << "such a stack cannot exist";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot make a coroutine stack: mmap"),
              std::string::npos)
        << error.what();
  }
}

// Uses up the mappings that a process may have, without using memory: of adjacent pages, every
// other one is protected differently. Gives back as many as asked, a few at a time.
class MappingHog {
 public:
  static constexpr std::size_t kPagesMax = 3'000'000;

  MappingHog() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = static_cast<std::byte*>(mmap(nullptr, kPagesMax * page_, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    while (used_ + 2 < kPagesMax && Protect(used_ + 1, PROT_READ)) used_ += 2;
  }
  ~MappingHog() { munmap(base_, kPagesMax * page_); }
  MappingHog(const MappingHog&) = delete;
  MappingHog& operator=(const MappingHog&) = delete;

  bool exhausted() const { return used_ + 2 < kPagesMax; }
  // Merges one page with its neighbours: two mappings fewer.
  void GiveBackTwo() {
    used_ -= 2;
    Protect(used_ + 1, PROT_NONE);
  }

 private:
  bool Protect(std::size_t index, int protection) {
    return mprotect(base_ + index * page_, page_, protection) == 0;
  }

  std::size_t page_;
  std::byte* base_ = nullptr;
  std::size_t used_ = 0;
};

// Runs with no mappings left, gives back two at a time, and prints what making a coroutine says.
[[noreturn, maybe_unused]] void MakeCoroutinesWithFewMappings() {
  Replica replica;
  std::vector<std::string> problems;
  problems.reserve(100);
  bool made = false;
  {
    MappingHog hog;
    if (!hog.exhausted()) {
      std::fputs("this machine has mappings without end\nthen one was made", stderr);
      std::exit(0);
    }
    for (int i = 0; i < 100 && !made; ++i) {
      try {
        replica.Spawn("one more", [] {});
        made = true;
      } catch (const std::runtime_error& error) {
        problems.emplace_back(error.what());
      }
      if (!made) hog.GiveBackTwo();
    }
  }
  for (const std::string& problem : problems) std::fprintf(stderr, "%s\n", problem.c_str());
  if (made) std::fputs("then one was made", stderr);
  replica.Run();
  std::exit(problems.empty() || !made ? 1 : 0);
}

// The sanitizer's own allocator needs mappings, and dies of their lack before we can speak.
#ifndef DEPFAST_TEST_SANITIZED
TEST(StacksDeathTest, RunningOutOfMappingsIsSaidAndNeverLeavesAStackUnguarded) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(MakeCoroutinesWithFewMappings(), ::testing::ExitedWithCode(0),
              "(vm.max_map_count|without end).*\n(.*\n)*then one was made");
}
#endif

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

// --- what a person can ask for ---

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
  const auto votes_at = dump.find("'counts votes' waits on IntEvent votes (1 of 3) for 5000 us\n");
  const auto sleep_at = dump.find("'sleeps' waits on TimeoutEvent at 1002000 us for 3000 us\n");
  const auto stack_at = dump.find("    at depfast::WaitDeepInside(");
  ASSERT_NE(votes_at, std::string::npos) << dump;
  ASSERT_NE(sleep_at, std::string::npos) << dump;
  ASSERT_NE(stack_at, std::string::npos) << dump;
  EXPECT_LT(votes_at, stack_at) << dump;
  EXPECT_LT(stack_at, sleep_at) << "in order of creation, each with its own stack: " << dump;

  EXPECT_EQ(replica.runtime.DumpCoroutines(), dump) << "looking changes nothing";
  replica.In([&] { votes->Set(3); });
  replica.Run();
  EXPECT_EQ(replica.log, Log{"counted"});
}

TEST(Dump, MayBeAskedForFromACoroutine) {
  Replica replica;
  std::string dump;
  replica.Spawn("sleeps", [&] { replica.runtime.Sleep(1s); });
  replica.Spawn("asks", [&] { dump = replica.runtime.DumpCoroutines(); });
  replica.Run();
  EXPECT_NE(dump.find("'sleeps'"), std::string::npos) << dump;
  EXPECT_EQ(dump.find("'asks'"), std::string::npos) << dump;
}

// --- sanitizers ---

TEST(LeaksDeathTest, WhatOnlyASuspendedStackHoldsIsNotLeaked) {
  // The leak checker must know the coroutines' stacks, or a process that exits while coroutines
  // wait would be accused of every object they hold. (Without a leak checker: trivially true.)
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

TEST(Stacks, ManyRuntimesInTurnReuseTheSameAddresses) {
  // An unmapped stack leaves no traces (a sanitizer's poison, say) to the next one in its place.
  for (int i = 0; i < 200; ++i) {
    Replica replica;
    for (int j = 0; j < 5; ++j) {
      replica.Spawn("short-lived", [&] {
        try {
          replica.runtime.Sleep(1ms);
          throw std::runtime_error("x");
        } catch (const std::runtime_error&) {
          replica.runtime.Sleep(1ms);
        }
      });
    }
    replica.Run();
    replica.Advance(i % 2 == 0 ? 1ms : 5ms);
  }
}

}  // namespace
}  // namespace depfast
