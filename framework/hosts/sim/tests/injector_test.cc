// The injector alone: effects begin and end with their faults, and of several the strongest counts.
#include "sim/injector.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sim/effects.h"

namespace depfast::sim {
namespace {

using namespace faults;  // NOLINT: tests of plans read like plans

struct Room {
  Room()
      : injector(3, agenda, effects, observers,
                 {.crash = [this](PeerId replica) { Ask("crash", replica); },
                  .restart = [this](PeerId replica) { Ask("restart", replica); },
                  .repair = [this](PeerId replica) { Ask("repair", replica); },
                  .flip_bits =
                      [this](PeerId replica, std::int64_t permille) {
                        Ask("flip at " + std::to_string(permille) + " in", replica);
                      }}) {}

  void Ask(const std::string& what, PeerId replica) {
    asked.push_back(what + " " + std::to_string(replica));
  }

  void RunUntil(Time limit) {
    while (const std::optional<Event> event = agenda.Pop(limit)) event->call();
  }

  Agenda agenda;
  Effects effects{3};
  Observers observers;
  std::vector<std::string> asked;
  Injector injector;
};

TEST(Injector, TheStrongestOfThoseUnderWayCounts) {
  Room room;
  for (const int percent : {50, 5, 20}) room.injector.Begin(CpuSlow({0}, percent));
  EXPECT_EQ(room.effects.of(0).cpu_percent, 5);
  room.injector.End(CpuSlow({0}, 6));  // not under way: it ends nothing
  EXPECT_EQ(room.effects.of(0).cpu_percent, 5);
  room.injector.End(CpuSlow({0}, 5));
  EXPECT_EQ(room.effects.of(0).cpu_percent, 20);
  EXPECT_EQ(room.effects.of(1).cpu_percent, 100);
}

TEST(Injector, OfEqualFaultsOneEndEndsOne) {
  Room room;
  room.injector.Begin(CutFault({0}, {1}));
  room.injector.Begin(CutFault({0}, {1}));
  room.injector.End(CutFault({0}, {1}));
  EXPECT_TRUE(room.effects.Cuts(0, 1));
  room.injector.End(CutFault({0}, {1}));
  EXPECT_FALSE(room.effects.Cuts(0, 1));
}

// The pairs of replicas of which the first reaches the second: "01 10" and so on.
std::string Links(const Room& room) {
  std::string out;
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t to = 0; to < 3; ++to) {
      if (from == to || room.effects.Cuts(from, to)) continue;
      out += (out.empty() ? "" : " ") + std::to_string(from) + std::to_string(to);
    }
  }
  return out;
}

TEST(Injector, APartitionCutsItsSideFromTheOthers) {
  Room room;
  EXPECT_EQ(Links(room), "01 02 10 12 20 21");
  room.injector.Begin(PartitionFault({0}));
  EXPECT_EQ(Links(room), "12 21");
  room.injector.Begin(PartitionFault({0, 1}));
  EXPECT_EQ(Links(room), "") << "three sides of one each";
  room.injector.End(PartitionFault({0}));
  EXPECT_EQ(Links(room), "01 10");
}

TEST(Injector, CutsAndPartitionsAddUp) {
  Room room;
  room.injector.Begin(CutFault({0}, {1}));
  room.injector.Begin(PartitionFault({0}));
  room.injector.Begin(CutFault({2}, {1}));
  EXPECT_EQ(Links(room), "12");
  room.injector.End(PartitionFault({0}));
  EXPECT_EQ(Links(room), "02 10 12 20") << "the cut outlives the partition";
}

TEST(Injector, FaultsOnFramesKeepTheirOrder) {
  Room room;
  room.injector.Begin(DropFault({1}, 5));
  room.injector.Begin(ReorderFault({0, 1}, 6));
  room.injector.Begin(DuplicateFault({1}, 7));
  EXPECT_EQ(room.effects.of(1).on_frames,
            (FaultPlan{DropFault({1}, 5), ReorderFault({0, 1}, 6), DuplicateFault({1}, 7)}));
  EXPECT_EQ(room.effects.of(0).on_frames, FaultPlan{ReorderFault({0, 1}, 6)});
}

TEST(Injector, APlanBeginsAndEndsOnTime) {
  Room room;
  room.RunUntil(2ms);
  room.injector.Schedule({CpuSlow({0}, 5).From(1ms).For(4ms), CrashFault({1, 2}).From(3ms)});
  room.RunUntil(2ms);
  EXPECT_EQ(room.effects.of(0).cpu_percent, 5) << "its start was past: it begins now";
  room.RunUntil(4ms);
  EXPECT_EQ(room.asked, (std::vector<std::string>{"crash 1", "crash 2"}));
  EXPECT_EQ(room.effects.of(0).cpu_percent, 5);
  room.RunUntil(5ms);
  EXPECT_EQ(room.effects.of(0).cpu_percent, 100);
  room.RunUntil(1s);
  EXPECT_EQ(room.asked.size(), 2U) << "a crash without duration never ends";
}

TEST(Injector, HealAllEndsFaultsAndRestartsReplicas) {
  Room room;
  room.injector.Begin(CrashFault({1}));
  room.injector.Begin(DropFault({1}, 5));
  room.asked.clear();
  room.injector.HealAll();
  EXPECT_TRUE(room.effects.of(1).on_frames.empty());
  EXPECT_EQ(room.asked, (std::vector<std::string>{"repair 0", "restart 0", "repair 1", "restart 1",
                                                  "repair 2", "restart 2"}));
}

TEST(Injector, TheEndOfAFaultThatFailsWritesRepairsItsReplicas) {
  Room room;
  const std::vector<Fault> faults = {DiskError({0}, 5), DiskFull({1, 2}, 100)};
  for (const Fault& fault : faults) room.injector.Begin(fault);
  EXPECT_TRUE(room.asked.empty());
  for (const Fault& fault : faults) room.injector.End(fault);
  EXPECT_EQ(room.asked, (std::vector<std::string>{"repair 0", "repair 1", "repair 2"}));
  EXPECT_FALSE(room.effects.of(0).disk_trouble.any());
}

TEST(Injector, ABitFlipsOnce) {
  Room room;
  room.injector.Schedule({BitFlip({1, 2}, 500).From(1ms).For(1ms)});
  room.RunUntil(5ms);
  EXPECT_EQ(room.asked, (std::vector<std::string>{"flip at 500 in 1", "flip at 500 in 2"}));
}

TEST(Injector, ObserversHearOfEveryBeginningAndEnd) {
  struct Listener : Observer {
    void OnFaultBegins(Time now, const Fault& fault) override {
      heard.push_back(std::to_string(now / 1ms) + " begins " + Fault::Name(fault.kind));
    }
    void OnFaultEnds(Time now, const Fault& fault) override {
      heard.push_back(std::to_string(now / 1ms) + " ends " + Fault::Name(fault.kind));
    }
    std::vector<std::string> heard;
  } listener;
  Room room;
  room.observers.Add(&listener);
  room.injector.Schedule({CpuSlow({0}, 5).From(1ms).For(4ms), CrashFault({1}).From(3ms).For(4ms),
                          DropFault({2}, 1).From(2ms)});
  room.RunUntil(8ms);
  room.injector.HealAll();
  EXPECT_EQ(listener.heard,
            (std::vector<std::string>{"1 begins cpu-slow", "2 begins drop", "3 begins crash",
                                      "5 ends cpu-slow", "7 ends crash", "8 ends drop"}));
}

}  // namespace
}  // namespace depfast::sim
