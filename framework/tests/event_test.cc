// Events: the moments at which each kind is ready or failed, and compounds and their children.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "depfast/compound_event.h"
#include "depfast/timeout_event.h"
#include "depfast/value_event.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Log;
using testing::Replica;

// Ready or failed when the test says so; changes back at will.
class Switch : public Event {
 public:
  enum class State { kOpen, kReady, kFailed };
  void Set(State state) {
    state_ = state;
    Test();
  }
  bool IsReady() const override { return state_ == State::kReady; }
  bool IsFailed() const override { return state_ == State::kFailed; }
  std::string Describe() const override { return "Switch"; }
  const char* Label() const override { return "switch"; }

 private:
  State state_ = State::kOpen;
};
using State = Switch::State;

// Notes the end of each wait in itself, and its own end in a log.
class Diary : public Switch {
 public:
  explicit Diary(Log& log) : log_(log) {}
  ~Diary() override { log_.push_back(notes_ + "destroyed"); }

 protected:
  Outcome DoWait(Duration timeout) override {
    const Outcome outcome = Event::DoWait(timeout);
    notes_ += std::string(ToString(outcome)) + ", ";
    return outcome;
  }

 private:
  Log& log_;
  std::string notes_;
};

class EventTest : public ::testing::Test {
 protected:
  // Starts a coroutine that waits on `event` and logs how that ended.
  void LogOutcome(const EventPtr& event, Duration timeout = kForever) {
    replica_.Go([this, event, timeout] { log().push_back(ToString(event->Wait(timeout))); });
  }
  std::shared_ptr<Switch> MakeSwitch(State state = State::kOpen) {
    const auto made = replica_.Make<Switch>();
    made->Set(state);
    return made;
  }
  void Set(const std::shared_ptr<Switch>& event, State state) {
    replica_.Do([&] { event->Set(state); });
  }
  template <typename Compound>
  std::shared_ptr<Compound> Make(std::initializer_list<EventPtr> children) {
    std::shared_ptr<Compound> made;
    replica_.In([&] { made = Compound::Of(children); });
    return made;
  }
  // Sets the two children of a compound in turn. Returns the log after each.
  template <typename Compound>
  std::vector<Log> LogsOf(State first, State second) {
    log().clear();
    const auto a = MakeSwitch();
    const auto b = MakeSwitch();
    LogOutcome(Make<Compound>({a, b}));
    Set(a, first);
    const Log half = log();
    Set(b, second);
    return {half, log()};
  }
  Log& log() { return replica_.log; }

  Replica replica_;
};

TEST_F(EventTest, AFailureEndsTheWait) {
  const auto event = MakeSwitch();
  LogOutcome(event);
  Set(event, State::kFailed);
  EXPECT_EQ(log(), Log{"failed"});
  LogOutcome(event);
  EXPECT_EQ(log(), (Log{"failed", "failed"})) << "a failed event returns at once";
}

TEST_F(EventTest, AZeroTimeoutTimesOutInTheSameStep) {
  LogOutcome(MakeSwitch(), 0ms);
  EXPECT_EQ(log(), Log{"timed out"});
}

TEST_F(EventTest, AWaitKeepsItsEventAliveUntilDoWaitHasReturned) {
  auto diary = replica_.Make<Diary>(log());
  replica_.Go([this, waited = diary.get()] {
    waited->Wait(5ms);
    log().push_back("after the wait");
  });
  diary.reset();
  EXPECT_EQ(log(), Log{});
  replica_.Advance(5ms);
  EXPECT_EQ(log(), (Log{"timed out, destroyed", "after the wait"}));
}

TEST_F(EventTest, AStoppedReplicaLetsGoOfTheEventsOfItsWaits) {
  auto diary = replica_.Make<Diary>(log());
  replica_.Go([waited = diary.get()] { waited->Wait(); });
  diary.reset();
  replica_.runtime.Shutdown();
  EXPECT_EQ(log(), Log{"destroyed"});
}

TEST_F(EventTest, ValueEventThatBecomesUnreadyBlocksTheNextWait) {
  const auto event = replica_.Make<ValueEvent<int>>("value", 0, [](int v) { return v == 1; });
  replica_.In([&] { event->Set(1); });
  LogOutcome(event);
  EXPECT_EQ(log(), Log{"ready"});
  replica_.In([&] { event->Set(2); });
  LogOutcome(event, 1ms);
  EXPECT_EQ(log().size(), 1U);
  replica_.Advance(1ms);
  EXPECT_EQ(log(), (Log{"ready", "timed out"}));
}

TEST_F(EventTest, AWokenCoroutineSeesTheValueAsItIsNow) {
  // Lazy: between the trigger and the waiter's turn the value may change back.
  const auto event = replica_.Make<ValueEvent<int>>("value", 0, [](int v) { return v == 1; });
  int seen = -1;
  replica_.Spawn("waiter", [&] {
    EXPECT_EQ(event->Wait(), Outcome::kReady);
    seen = event->value();
  });
  replica_.Spawn("setter", [&] {
    event->Set(1);
    event->Set(7);
  });
  replica_.Run();
  EXPECT_EQ(seen, 7);
}

TEST_F(EventTest, IntEventCountsToItsTarget) {
  const auto event = replica_.Make<IntEvent>("votes", 3);
  LogOutcome(event);
  replica_.Do([&] {
    event->Add();
    event->Add();
  });
  EXPECT_TRUE(log().empty());
  EXPECT_EQ(event->Describe(), "IntEvent votes (2 of 3)");
  replica_.Do([&] { event->Add(5); });
  EXPECT_EQ(log(), Log{"ready"});
  EXPECT_EQ(event->value(), 7);
}

TEST_F(EventTest, TimeoutEventIsReadyFromItsDeadlineOn) {
  std::shared_ptr<TimeoutEvent> event;
  replica_.host.now = 3ms;
  replica_.In([&] { event = TimeoutEvent::After(2ms); });
  EXPECT_EQ(event->deadline(), 5ms);
  LogOutcome(event);
  replica_.host.now = 5ms - 1ns;
  replica_.Run();
  EXPECT_FALSE(event->IsReady());
  replica_.host.now = 5ms;
  replica_.Run();
  EXPECT_EQ(log(), Log{"ready"});
}

TEST_F(EventTest, AForgottenTimeoutEventIsHarmless) {
  replica_.Do([&] { TimeoutEvent::After(2ms); });
  replica_.Advance(10ms);
  EXPECT_TRUE(log().empty());
}

// --- compounds ---

TEST_F(EventTest, AndNeedsEveryChildAndFailsWithTheFirst) {
  EXPECT_EQ(LogsOf<AndEvent>(State::kReady, State::kReady), (std::vector<Log>{{}, {"ready"}}));
  EXPECT_EQ(LogsOf<AndEvent>(State::kOpen, State::kFailed), (std::vector<Log>{{}, {"failed"}}));
}

TEST_F(EventTest, OrNeedsOneChildAndFailsWithTheLastOnly) {
  EXPECT_EQ(LogsOf<OrEvent>(State::kOpen, State::kReady), (std::vector<Log>{{}, {"ready"}}));
  EXPECT_EQ(LogsOf<OrEvent>(State::kFailed, State::kFailed), (std::vector<Log>{{}, {"failed"}}));
  const auto other = MakeSwitch();
  const auto any = Make<OrEvent>({other, MakeSwitch(State::kReady)});
  for (const State state : {State::kReady, State::kFailed}) {
    Set(other, state);
    EXPECT_TRUE(any->IsReady()) << "whatever becomes of the other child";
    EXPECT_FALSE(any->IsFailed());
  }
}

TEST_F(EventTest, EmptyCompounds) {
  LogOutcome(Make<AndEvent>({}));
  EXPECT_EQ(log(), Log{"ready"});
  const auto none = Make<OrEvent>({});
  EXPECT_FALSE(none->IsFailed());
  LogOutcome(none, 1ms);
  replica_.Advance(1ms);
  EXPECT_EQ(log(), (Log{"ready", "timed out"}));
}

TEST_F(EventTest, ChildrenDecidedBeforeTheyAreAddedCount) {
  LogOutcome(Make<AndEvent>({MakeSwitch(State::kReady), MakeSwitch(State::kReady)}));
  LogOutcome(Make<OrEvent>({MakeSwitch(), MakeSwitch(State::kReady)}));
  LogOutcome(Make<AndEvent>({MakeSwitch(), MakeSwitch(State::kFailed)}));
  EXPECT_EQ(log(), (Log{"ready", "ready", "failed"}));
}

TEST_F(EventTest, ADecidedChildAddedDuringTheWaitEndsIt) {
  const auto any = Make<OrEvent>({MakeSwitch()});
  LogOutcome(any);
  replica_.Do([&] { any->Add(MakeSwitch(State::kReady)); });
  EXPECT_EQ(log(), Log{"ready"});
}

TEST_F(EventTest, CompoundsNest) {
  for (const auto& [state, outcome] :
       {std::pair(State::kReady, "ready"), std::pair(State::kFailed, "failed")}) {
    const auto a = MakeSwitch();
    const auto c = MakeSwitch();
    LogOutcome(Make<OrEvent>({Make<AndEvent>({a, MakeSwitch()}), c}));
    Set(a, state);
    EXPECT_EQ(log(), Log{}) << outcome;
    Set(c, state);
    EXPECT_EQ(std::exchange(log(), {}), Log{outcome});
  }
  const auto a = MakeSwitch();
  const auto c = MakeSwitch();
  LogOutcome(Make<AndEvent>({Make<OrEvent>({a, MakeSwitch()}), c}));
  Set(a, State::kReady);
  EXPECT_EQ(log(), Log{});
  Set(c, State::kReady);
  EXPECT_EQ(log(), Log{"ready"});
}

TEST_F(EventTest, AndLooksAtAFlippingChildAnew) {
  const auto flipping = replica_.Make<ValueEvent<int>>("flipping", 1, [](int v) { return v == 1; });
  const auto other = MakeSwitch();
  LogOutcome(Make<AndEvent>({flipping, other}));
  replica_.In([&] { flipping->Set(0); });
  Set(other, State::kReady);
  EXPECT_TRUE(log().empty()) << "a child that is no longer ready was counted";
  replica_.Do([&] { flipping->Set(1); });
  EXPECT_EQ(log(), Log{"ready"});
}

TEST_F(EventTest, OneChildMayHaveManyParents) {
  const auto child = MakeSwitch();
  for (int i = 0; i < 3; ++i) LogOutcome(Make<AndEvent>({child}));
  Set(child, State::kReady);
  EXPECT_EQ(log(), (Log{"ready", "ready", "ready"}));
}

TEST_F(EventTest, ACompoundMayDieBeforeItsChildFires) {
  const auto child = MakeSwitch();
  std::weak_ptr<AndEvent> dead;
  {
    const auto parent = Make<AndEvent>({child, MakeSwitch()});
    dead = parent;
  }
  EXPECT_TRUE(dead.expired()) << "a child must not keep its parents alive";
  Set(child, State::kReady);
}

TEST_F(EventTest, DeadParentsAreForgotten) {
  // One long-lived event in many short-lived compounds: `Or(stop, reply)` in a loop.
  const auto stop = MakeSwitch();
  for (int i = 0; i < 10'000; ++i) Make<OrEvent>({stop, MakeSwitch()});
  EXPECT_LE(EventTestPeer::Parents(*stop), 16U);
  LogOutcome(Make<OrEvent>({stop}));
  Set(stop, State::kReady);
  EXPECT_EQ(log(), Log{"ready"});
}

// A parent that, when it hears of its child, hangs more parents under it.
class Breeder : public Event {
 public:
  explicit Breeder(std::vector<EventPtr>& born) : born_(born) {}
  bool IsReady() const override { return heard_; }
  std::string Describe() const override { return "Breeder"; }
  const char* Label() const override { return "breeder"; }

 protected:
  void OnChildDecided(Event& child) override {
    if (heard_) return;
    heard_ = true;
    for (int i = 0; i < 100; ++i) {
      born_.push_back(OrEvent::Of({child.shared_from_this()}));
    }
  }

 private:
  std::vector<EventPtr>& born_;
  bool heard_ = false;
};

TEST_F(EventTest, AParentMayAddParentsWhileItIsTold) {
  std::vector<EventPtr> born;
  const auto child = MakeSwitch();
  const auto breeder = replica_.Make<Breeder>(born);
  const auto last = replica_.Make<OrEvent>();
  replica_.In([&] {
    std::vector<EventPtr> in_front;
    for (int i = 0; i < 50; ++i) in_front.push_back(OrEvent::Of({child}));
    child->NotifyOnDecision(breeder);
    last->Add(child);
  });  // those in front are dead now: pruning them while the others are told would shift these
  LogOutcome(last);
  Set(child, State::kReady);
  EXPECT_EQ(born.size(), 100U);
  EXPECT_EQ(log(), Log{"ready"}) << "the parent behind the breeder was skipped";
}

}  // namespace
}  // namespace depfast
