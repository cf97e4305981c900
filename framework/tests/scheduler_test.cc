// The scheduling contract of document 002, section 3.2.2, one promise per test.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "depfast/compound_event.h"
#include "depfast/value_event.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Log;
using testing::Replica;

TEST(Scheduler, DecidingAnEventDoesNotSwitch) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("go", 1);
  replica.SpawnWaiter("waiter", event);
  replica.Spawn("setter", [&] {
    event->Set(1);
    replica.log.push_back("after Set");
  });
  replica.Run();
  EXPECT_EQ(replica.log, (Log{"after Set", "waiter ready"}));
}

TEST(Scheduler, SpawnDoesNotSwitchAndCoroutinesRunInOrderOfCreation) {
  Replica replica;
  replica.Go([&] {
    for (const char* name : {"a", "b", "c"}) {
      replica.runtime.Spawn(name, [&replica, name] { replica.log.push_back(name); });
    }
    replica.log.push_back("parent");
  });
  EXPECT_EQ(replica.log, (Log{"parent", "a", "b", "c"}));
}

TEST(Scheduler, WaitOnADecidedEventLetsNobodyElseRun) {
  Replica replica;
  replica.Go([&] {
    replica.runtime.Spawn("other", [&] { replica.log.push_back("other"); });
    const auto event = std::make_shared<IntEvent>("ready", 0);
    EXPECT_EQ(event->Wait(), Outcome::kReady);
    EXPECT_EQ(event->Wait(0ms), Outcome::kReady);
    replica.log.push_back("waited");
  });
  EXPECT_EQ(replica.log, (Log{"waited", "other"}));
}

TEST(Scheduler, ReadyCoroutinesRunFirstComeFirstServed) {
  Replica replica;
  const auto first = replica.Make<IntEvent>("first", 1);
  const auto second = replica.Make<IntEvent>("second", 1);
  replica.SpawnWaiter("second", second);
  replica.SpawnWaiter("first", first);
  replica.Spawn("setter", [&] {
    first->Set(1);
    second->Set(1);
  });
  replica.Run();
  EXPECT_EQ(replica.log, (Log{"first ready", "second ready"}));
}

TEST(Scheduler, WaitersOfOneEventWakeInOrderOfWaiting) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("go", 1);
  for (const char* name : {"a", "b", "c"}) replica.SpawnWaiter(name, event);
  replica.Run();
  EXPECT_TRUE(replica.log.empty());
  replica.Do([&] { event->Set(1); });
  EXPECT_EQ(replica.log, (Log{"a ready", "b ready", "c ready"}));
}

TEST(Scheduler, TheQueueMayGrowWhileItDrains) {
  Replica replica;
  constexpr int kGenerations = 100;
  std::function<void(int)> generation = [&](int number) {
    replica.log.push_back(std::to_string(number));
    if (number < kGenerations)
      replica.runtime.Spawn("next", [&, number] { generation(number + 1); });
  };
  replica.Go([&] { generation(1); });
  ASSERT_EQ(replica.log.size(), static_cast<std::size_t>(kGenerations));
  EXPECT_EQ(replica.log.back(), std::to_string(kGenerations));
}

TEST(Scheduler, YieldLetsEveryRunnableCoroutineGoFirst) {
  Replica replica;
  replica.Spawn("yields", [&] {
    replica.log.push_back("1");
    replica.runtime.Yield();
    replica.log.push_back("4");
  });
  replica.Spawn("a", [&] { replica.log.push_back("2"); });
  replica.Spawn("b", [&] { replica.log.push_back("3"); });
  replica.Run();
  EXPECT_EQ(replica.log, (Log{"1", "2", "3", "4"}));
}

// --- time ---

TEST(Scheduler, SleepEndsExactlyWhenItShould) {
  Replica replica;
  Time woken{-1};
  replica.Go([&] {
    replica.runtime.Sleep(10ms);
    woken = replica.runtime.Now();
  });
  EXPECT_EQ(replica.host.wake, 10ms);
  replica.host.now = 10ms - 1ns;
  replica.Run();
  EXPECT_EQ(woken, -1ns);
  replica.host.now = 10ms;
  replica.Run();
  EXPECT_EQ(woken, 10ms);
}

TEST(Scheduler, SleepOfZeroEndsInTheSameStepAfterTheRunnableOnes) {
  Replica replica;
  replica.Spawn("sleeper", [&] {
    replica.runtime.Sleep(0ms);
    replica.log.push_back("slept");
  });
  replica.Spawn("other", [&] { replica.log.push_back("other"); });
  replica.Run();
  EXPECT_EQ(replica.log, (Log{"other", "slept"}));
}

TEST(Scheduler, AWaitForEverAsksForNoWakeUp) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("never", 1);
  replica.Go([&] { event->Wait(); });
  EXPECT_EQ(replica.host.wake, kNever);
}

TEST(Scheduler, SleepForEverIsNotASleepIntoThePast) {
  Replica replica;
  replica.host.now = 1s;
  replica.Go([&] {
    replica.runtime.Sleep(kForever);
    replica.log.push_back("woken");
  });
  replica.Advance(24h);
  EXPECT_TRUE(replica.log.empty());
}

TEST(Scheduler, AnEarlierDeadlineReplacesTheWakeUpAskedFor) {
  Replica replica;
  replica.Go([&] { replica.runtime.Sleep(10ms); });
  EXPECT_EQ(replica.host.wake, 10ms);
  replica.Go([&] { replica.runtime.Sleep(2ms); });
  EXPECT_EQ(replica.host.wake, 2ms);
  replica.host.now = 2ms;
  replica.Run();
  EXPECT_EQ(replica.host.wake, 10ms) << "the later deadline must be asked for again";
}

TEST(Scheduler, TimeoutsExpireByDeadlineThenByRegistration) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("never", 1);
  replica.SpawnWaiter("late", event, 30ms);
  replica.SpawnWaiter("1", event, 10ms);
  replica.SpawnWaiter("middle", event, 20ms);
  replica.SpawnWaiter("2", event, 10ms);
  replica.SpawnWaiter("3", event, 10ms);
  replica.Run();
  replica.host.now = 100ms;  // one step in which all have expired
  replica.Run();
  EXPECT_EQ(replica.log, (Log{"1 timed out", "2 timed out", "3 timed out", "middle timed out",
                              "late timed out"}));
}

TEST(Scheduler, ReadyCoroutinesRunBeforeExpiredTimeouts) {
  Replica replica;
  const auto never = replica.Make<IntEvent>("never", 1);
  const auto event = replica.Make<IntEvent>("go", 1);
  replica.SpawnWaiter("late", never, 5ms);
  replica.Spawn("ready", [&] {
    event->Wait();
    replica.log.push_back("ready");
    replica.runtime.Yield();  // made runnable again: still before the timeout
    replica.log.push_back("yielded");
  });
  replica.Run();
  replica.host.now = 5ms;
  replica.Do([&] { event->Set(1); });
  EXPECT_EQ(replica.log, (Log{"ready", "yielded", "late timed out"}));
}

TEST(Scheduler, ReadinessAtTheInstantOfTheTimeoutWins) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("go", 1);
  replica.SpawnWaiter("waiter", event, 5ms);
  replica.Run();
  replica.host.now = 5ms;
  replica.Do([&] { event->Set(1); });
  EXPECT_EQ(replica.log, Log{"waiter ready"});
}

// Expired timeouts are looked at one by one, and only when nothing is runnable.
TEST(Scheduler, ACoroutineWokenByATimeoutCanStillRescueTheNextOne) {
  Replica replica;
  const auto never = replica.Make<IntEvent>("never", 1);
  const auto event = replica.Make<IntEvent>("go", 1);
  replica.Spawn("rescuer", [&] {
    never->Wait(5ms);
    event->Set(1);
  });
  replica.SpawnWaiter("rescued", event, 5ms);
  replica.Run();
  replica.Advance(5ms);
  EXPECT_EQ(replica.log, Log{"rescued ready"});
}

TEST(Scheduler, AnEndedWaitLeavesNoTimeoutBehind) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("go", 1);
  const auto never = replica.Make<IntEvent>("never", 1);
  Outcome second = Outcome::kReady;
  Time ended{0};
  replica.Go([&] {
    event->Wait(10ms);
    second = never->Wait(100ms);
    ended = replica.runtime.Now();
  });
  replica.host.now = 1ms;
  replica.Do([&] { event->Set(1); });
  replica.Advance(1s);
  EXPECT_EQ(second, Outcome::kTimedOut);
  EXPECT_EQ(ended, 101ms) << "the first wait's timeout must not end the second wait";
}

// A coroutine waits for `awaited` and then logs "done". Nothing waits for `late` any more.
void ExpectOnlyTheSecondResumes(Replica& replica, const std::shared_ptr<IntEvent>& late,
                                const std::shared_ptr<IntEvent>& awaited) {
  replica.Do([&] { late->Set(1); });
  EXPECT_TRUE(replica.log.empty());
  replica.Do([&] { awaited->Set(1); });
  EXPECT_EQ(replica.log, Log{"done"});
}

TEST(Scheduler, ALateTriggerDoesNotResumeACoroutineThatHasMovedOn) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("late", 1);
  const auto other = replica.Make<IntEvent>("other", 1);
  replica.Go([&] {
    EXPECT_EQ(event->Wait(5ms), Outcome::kTimedOut);
    EXPECT_EQ(other->Wait(), Outcome::kReady);
    EXPECT_EQ(other->value(), 1) << "resumed by an event that it no longer waited on";
    replica.log.push_back("done");
  });
  replica.Advance(5ms);
  ExpectOnlyTheSecondResumes(replica, event, other);
}

TEST(Scheduler, ALateTriggerDoesNotResumeTheNextTaskOfTheSameWorker) {
  Replica replica;
  const auto event = replica.Make<IntEvent>("late", 1);
  const auto other = replica.Make<IntEvent>("other", 1);
  replica.Go([&] { EXPECT_EQ(event->Wait(5ms), Outcome::kTimedOut); });
  replica.Advance(5ms);  // the task has ended: its worker is idle, and taken by the next Spawn
  replica.Go([&] {
    EXPECT_EQ(other->Wait(), Outcome::kReady);
    EXPECT_EQ(other->value(), 1);
    replica.log.push_back("done");
  });
  ExpectOnlyTheSecondResumes(replica, event, other);
}

TEST(Scheduler, WaitingAgainAndAgainOnOneEventKeepsOneWaiter) {
  // A loop that polls with a timeout must neither grow the event nor wake more than once.
  Replica replica;
  const auto event = replica.Make<IntEvent>("stop", 1);
  int rounds = 0;
  replica.Go([&] {
    while (event->Wait(1us) == Outcome::kTimedOut) ++rounds;
    replica.log.push_back("stopped");
  });
  replica.Advance(10ms);
  EXPECT_EQ(rounds, 10'000);
  EXPECT_LE(EventTestPeer::Waiters(*event), 8U);
  replica.Do([&] { event->Set(1); });
  EXPECT_EQ(replica.log, Log{"stopped"});
}

TEST(Scheduler, AStepThatDoesNotEndIsReported) {
  Replica replica({.resumes_per_step_max = 1000});
  replica.Spawn("spinner", [&] {
    for (;;) replica.runtime.Yield();
  });
  try {
    replica.Run();
    FAIL() << "the step ended";
  } catch (const RunawayError& error) {
    EXPECT_NE(std::string(error.what()).find("'spinner'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("1000 times"), std::string::npos) << error.what();
  }
}

TEST(Scheduler, TheRunawayGuardCountsEachStepAnew) {
  Replica replica({.resumes_per_step_max = 100});
  for (int step = 0; step < 10; ++step) {
    replica.Spawn("busy", [&] {
      for (int i = 0; i < 90; ++i) replica.runtime.Yield();
    });
    EXPECT_NO_THROW(replica.Run());
  }
}

// --- dependencies ---

TEST(Dependency, IsInheritedBySpawnedCoroutinesOnly) {
  Replica replica;
  Dependency child{};
  Dependency sibling = Dependency::Heartbeat();
  replica.Spawn("parent", [&] {
    replica.runtime.set_dependency(Dependency::Client(42));
    replica.runtime.Spawn("child", [&] { child = replica.runtime.dependency(); });
  });
  replica.Spawn("sibling", [&] { sibling = replica.runtime.dependency(); });
  replica.Run();
  EXPECT_EQ(child, Dependency::Client(42));
  EXPECT_EQ(sibling, Dependency{});
  EXPECT_EQ(replica.runtime.dependency(), Dependency{}) << "nobody runs: nobody's work";
}

TEST(Dependency, SurvivesAWaitAndDoesNotLeakToTheWorkersNextTask) {
  Replica replica;
  Dependency after_wait{};
  Dependency next_task = Dependency::Heartbeat();
  replica.Go([&] {
    replica.runtime.set_dependency(Dependency::Heartbeat());
    replica.runtime.Sleep(1ms);
    after_wait = replica.runtime.dependency();
  });
  replica.Go([&] { replica.runtime.Sleep(1us); });  // another coroutine's dependency, in between
  replica.Advance(1ms);
  replica.Go([&] { next_task = replica.runtime.dependency(); });
  EXPECT_EQ(after_wait, Dependency::Heartbeat());
  EXPECT_EQ(next_task, Dependency{});
}

// --- several runtimes in one thread ---

TEST(Runtimes, NestInOneThread) {
  Replica outer;
  Replica inner;
  Runtime* seen_inside = nullptr;
  Runtime* seen_after = nullptr;
  outer.Go([&] {
    inner.Go([&] { seen_inside = &Runtime::Current(); });
    seen_after = &Runtime::Current();
    outer.runtime.Sleep(1ms);
    outer.log.push_back("woken");
  });
  EXPECT_EQ(seen_inside, &inner.runtime);
  EXPECT_EQ(seen_after, &outer.runtime);
  outer.Advance(1ms);
  EXPECT_EQ(outer.log, Log{"woken"});
}

TEST(Runtimes, RandomNumbersStayInTheirRangeAndReachItsEnds) {
  Replica replica;
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const auto number = replica.runtime.RandomBetween(-2, 2);
    ASSERT_GE(number, -2);
    ASSERT_LE(number, 2);
    low = low || number == -2;
    high = high || number == 2;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(replica.runtime.RandomBetween(5ms, 5ms), 5ms);
}

}  // namespace
}  // namespace depfast
