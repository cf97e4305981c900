// The agenda alone: the order of events, and the clock.
#include "sim/agenda.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace depfast::sim {
namespace {

// Pops every event up to `limit` and returns their nodes.
std::vector<int> NodesUpTo(Agenda& agenda, Time limit) {
  std::vector<int> nodes;
  while (const std::optional<Event> event = agenda.Pop(limit)) nodes.push_back(event->node);
  return nodes;
}

TEST(Agenda, EventsComeInOrderOfTime) {
  Agenda agenda;
  agenda.Push(3ms, Event::Kind::kStep, 3, 0);
  agenda.Push(1ms, Event::Kind::kStep, 1, 0);
  agenda.Push(2ms, Event::Kind::kStep, 2, 0);
  EXPECT_EQ(NodesUpTo(agenda, 1s), (std::vector<int>{1, 2, 3}));
}

TEST(Agenda, EventsOfOneInstantComeInOrderOfAddition) {
  Agenda agenda;
  std::vector<int> added;
  for (int i = 0; i < 100; ++i) {
    agenda.Push(1ms, Event::Kind::kStep, static_cast<std::size_t>(i), 0);
    added.push_back(i);
  }
  EXPECT_EQ(NodesUpTo(agenda, 1ms), added);
}

TEST(Agenda, AnEventThatIsAddedNowComesAfterThoseOfNow) {
  Agenda agenda;
  agenda.Push(1ms, Event::Kind::kStep, 1, 0);
  agenda.Push(1ms, Event::Kind::kStep, 2, 0);
  ASSERT_EQ(agenda.Pop(1s)->node, 1);
  agenda.Push(agenda.now(), Event::Kind::kStep, 3, 0);  // takes the slot of the first
  EXPECT_EQ(NodesUpTo(agenda, 1s), (std::vector<int>{2, 3}));
}

TEST(Agenda, TheClockStandsAtTheLatestEventOrTheLimit) {
  Agenda agenda;
  agenda.Push(2ms, Event::Kind::kStep, 0, 0);
  EXPECT_FALSE(agenda.Pop(1ms).has_value());
  EXPECT_EQ(agenda.now(), 1ms);
  EXPECT_EQ(agenda.events(), 0U);
  EXPECT_TRUE(agenda.Pop(5ms).has_value());
  EXPECT_EQ(agenda.now(), 2ms);
  EXPECT_EQ(agenda.events(), 1U);
  EXPECT_FALSE(agenda.Pop(5ms).has_value());
  EXPECT_EQ(agenda.now(), 5ms);
}

TEST(Agenda, AnEventIsWhatWasPushed) {
  Agenda agenda;
  Event& pushed = agenda.Push(1ms, Event::Kind::kArrive, 4, 7);
  pushed.from = 2;
  pushed.bytes = MakeBytes("frame");
  const std::optional<Event> event = agenda.Pop(1s);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, Event::Kind::kArrive);
  EXPECT_EQ(event->node, 4);
  EXPECT_EQ(event->from, 2);
  EXPECT_EQ(event->epoch, 7U);
  EXPECT_EQ(*event->bytes, "frame");
}

TEST(Agenda, ACallIsAnEventOfItsTime) {
  Agenda agenda;
  int calls = 0;
  agenda.At(1ms, [&calls] { ++calls; });
  const std::optional<Event> event = agenda.Pop(1s);
  ASSERT_TRUE(event.has_value());
  ASSERT_EQ(event->kind, Event::Kind::kCall);
  event->call();
  EXPECT_EQ(calls, 1);
}

TEST(Agenda, NothingIsAddedToThePast) {
  Agenda agenda;
  agenda.Pop(2ms);
  EXPECT_DEATH(agenda.Push(1ms, Event::Kind::kStep, 0, 0), "when");
}

}  // namespace
}  // namespace depfast::sim
