// The end of a replica: every suspended stack is unwound.
#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <stdexcept>

#include "depfast/value_event.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Guard;
using testing::Log;
using testing::Replica;

TEST(Shutdown, RunsTheDestructorsOnEverySuspendedStack) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("never", 1);
  replica.Spawn("waits", [&] {
    const Guard outer{replica.log, "waits, outer"};
    const Guard inner{replica.log, "waits, inner"};
    event->Wait();
    replica.log.push_back("not reached");
  });
  replica.Spawn("sleeps", [&] {
    const Guard guard{replica.log, "sleeps"};
    replica.runtime.Sleep(1h);
    replica.log.push_back("not reached");
  });
  replica.Run();
  EXPECT_TRUE(replica.log.empty());
  for (int i = 0; i < 2; ++i) {
    replica.runtime.Shutdown();
    EXPECT_EQ(replica.log, (Log{"waits, inner", "waits, outer", "sleeps"})) << "also twice";
  }
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
  Replica replica;
  const auto held = std::make_shared<int>(1);
  replica.Go([] {});  // an idle worker, so that one is reused and one is new
  for (int i = 0; i < 2; ++i)
    replica.Spawn("never run", [&replica, held] { replica.log.push_back("ran"); });
  EXPECT_EQ(held.use_count(), 3);
  replica.runtime.Shutdown();
  EXPECT_TRUE(replica.log.empty());
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Shutdown, EndsCoroutinesThatAreRunnable) {
  Replica replica({.resumes_per_step_max = 10});
  for (const char* name : {"yielded", "yielded too"}) {
    replica.Spawn(name, [&replica, name] {
      const Guard guard{replica.log, name};
      for (;;) replica.runtime.Yield();
    });
  }
  EXPECT_THROW(replica.Run(), RunawayError);
  replica.runtime.Shutdown();
  EXPECT_EQ(replica.log, (Log{"yielded", "yielded too"}));
}

TEST(Shutdown, EndsACoroutineThatWasWokenButHasNotRunYet) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("go", 1);
  replica.Go([&] {
    const Guard guard{replica.log, "ended"};
    event->Wait();
    replica.log.push_back("went on");
  });
  replica.In([&] { event->Set(1); });
  replica.runtime.Shutdown();
  EXPECT_EQ(replica.log, Log{"ended"});
}

TEST(Shutdown, IsNoStandardExceptionAndMayBeRethrown) {
  Replica replica;
  replica.Go([&] {
    try {
      replica.runtime.Sleep(1h);
    } catch (const std::exception&) {
      replica.log.push_back("taken for an error");
    } catch (...) {
      replica.log.push_back("cleaned up");
      throw;
    }
    replica.log.push_back("not reached");
  });
  replica.runtime.Shutdown();
  EXPECT_EQ(replica.log, Log{"cleaned up"});
}

TEST(Shutdown, ForgivesACatchAllThatSwallowsAndThenEnds) {
  Replica replica;
  replica.Go([&] {
    try {
      replica.runtime.Sleep(1h);
    } catch (...) {
    }
    replica.log.push_back("ended by itself");
  });
  replica.runtime.Shutdown();
  EXPECT_EQ(replica.log, Log{"ended by itself"});
}

TEST(Shutdown, DestructorsMayUseTheRuntime) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("done", 1);
  struct Busy {
    Replica& replica;
    std::shared_ptr<IntEvent> event;
    ~Busy() {
      replica.runtime.Spawn("too late", [] { ADD_FAILURE() << "spawned after the end"; });
      event->Set(1);  // wakes the other one, which is about to be ended, or was
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

}  // namespace
}  // namespace depfast
