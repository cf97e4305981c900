// Stacks: overflow, reuse, and the limit of memory mappings.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/scheduler.h"
#include "core/stack_overflow.h"
#include "depfast/value_event.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Log;
using testing::Replica;

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

// Expects that `body` ends a process of its own with SIGSEGV, and that the process has said this.
void ExpectFault(void (*body)(), const char* said) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        InstallStackOverflowHandler();
        body();
      },
      ::testing::KilledBySignal(SIGSEGV), said);
}

TEST(StackOverflowDeathTest, NamesTheCoroutine) {
  ExpectFault(
      [] {
        Replica replica;
        replica.Spawn("innocent", [&] { replica.runtime.Sleep(1ms); });
        replica.Spawn("bottomless", [&] {
          replica.runtime.Yield();
          std::printf("%d", Recurse(0));
        });
        replica.Run();
      },
      "stack overflow in coroutine 'bottomless'");
}

// -fstack-clash-protection touches every page on the way, so the guard cannot be jumped over.
TEST(StackOverflowDeathTest, AnArrayLargerThanTheGuardIsCaughtToo) {
  ExpectFault([] { Replica().Go([] { UseALargeArray(); }); }, "stack overflow in coroutine 'test'");
}

TEST(StackOverflowDeathTest, AnOrdinaryFaultIsNotCalledAnOverflow) {
  ExpectFault(
      [] {
        Replica().Go([] {
          std::fputs("about to fault\n", stderr);
          volatile std::uintptr_t nowhere = 64;
          *reinterpret_cast<volatile int*>(nowhere) = 1;
        });
      },
      "^about to fault\n$");
}

TEST(StackOverflowDeathTest, ASignalFromOutsideStillKills) {
  ExpectFault(
      [] {
        std::raise(SIGSEGV);
        std::fputs("survived", stderr);
      },
      "^$");
}

TEST(Stacks, TwentyThousandCoroutinesMayBeSuspendedAtOnce) {
  constexpr int kCoroutines = 20'000;
  Replica replica({.stack_bytes = 64 * 1024});
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
  replica.Do([&] { event->Set(1); });
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
  Replica replica({.stack_bytes = 100'000});  // not a multiple of a page
  replica.Go([&] {
    const StackBounds& stack = replica.runtime.scheduler().current()->stack();
    EXPECT_GE(stack.top - stack.bottom, 100'000);
    EXPECT_GE(stack.bottom - stack.guard, 4096);
  });
}

TEST(Stacks, AnImpossibleStackIsRefusedWithAdvice) {
  Replica replica({.stack_bytes = std::size_t{1} << 47});  // more than there are addresses
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
// other one is protected differently. Gives back the number that is asked for, a few at a time.
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

// Runs with no mappings left, gives back two at a time, and prints the error of making a coroutine.
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
#ifndef DEPFAST_SANITIZED
TEST(StacksDeathTest, RunningOutOfMappingsIsSaidAndNeverLeavesAStackUnguarded) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(MakeCoroutinesWithFewMappings(), ::testing::ExitedWithCode(0),
              "(vm.max_map_count|without end).*\n(.*\n)*then one was made");
}
#endif

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
