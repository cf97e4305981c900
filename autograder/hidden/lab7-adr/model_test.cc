// Hidden tests: streams of which a naive model knows each answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "asked_detector.h"
#include "depfast/host/random.h"
#include "naive_detector.h"
#include "testkit/environment.h"
#include "testkit/some.h"
#include "testkit/told.h"

namespace depfast::adr {
namespace {

using Kind = PlantedRun::Kind;

const char* NameOf(int rate) {
  static constexpr const char* kNames[] = {"lower", "normal", "higher"};
  return rate < 3 ? kNames[rate] : "unknown";
}

std::string Described(char state) {
  const int bits = state - '0';
  std::string text = (bits & 1) != 0 ? "a warning, " : "no warning, ";
  text += (bits & 2) != 0 ? "fatal, " : "not fatal, ";
  text += std::string("rate ") + NameOf((bits >> 2) & 3);
  text += (bits & 16) != 0 ? ", a reset" : ", no reset";
  return text + ((bits & 32) != 0 ? ", a threshold that it reaches" : ", a higher threshold");
}

std::string Described(const PlantedRun& run) {
  const std::string after = std::to_string(run.gap_ns / 1'000'000) + " ms later ";
  const std::string value = std::to_string(run.value_ns / 1'000) + " us";
  switch (run.kind) {
    case Kind::kUpdates:
      return after + value + " (work " + std::to_string(run.work) + ")";
    case Kind::kTicks:
      return after + "a tick, under way for " + value;
    case Kind::kIdleTicks:
      return after + "a tick";
    case Kind::kStall:
      return after + "a stall";
    case Kind::kSaturated:
      return "saturated";
    case Kind::kNotSaturated:
      return "not saturated";
    case Kind::kStaticWarn:
      return "a static threshold of " + value;
  }
  return "";
}

// The rules that decide the first part of the state that differs. A reset changes all others.
const char* RulesOf(char said, char right) {
  const int differs = said ^ right;
  if ((differs & 16) != 0) return "R6, and R2, R4 and R7, on which it rests";
  if ((differs & 12) != 0) return "R1, R4 and R10";
  if ((differs & 32) != 0) return "R2, R3 and R7";
  if ((differs & 1) != 0) return "R5 and R11";
  return "R6, R8, R9 and R12";
}

// Whether the detector says of each stream what the model says. A student is told of the first one
// that differs.
testing::AssertionResult AgreeOn(AskedDetector& detector, const WatchStreams& request) {
  const auto said = detector.States(request);
  const auto right = NaiveStates(request);
  for (std::size_t i = 0; i < right.size(); ++i) {
    const auto [wrong, expected] = std::ranges::mismatch(said[i], right[i]);
    if (wrong == said[i].end()) continue;
    std::ostringstream words;
    const auto at = static_cast<std::size_t>(wrong - said[i].begin());
    words << "Look at " << RulesOf(*wrong - '0', *expected - '0') << ". With recent_min "
          << request.recent_min << ", history_per_recent " << request.history_per_recent
          << ", rates_per_recent " << request.rates_per_recent << ", window_max "
          << request.window_max << " and these updates:";
    for (std::size_t run = at > 30 ? at - 30 : 0; run <= at; ++run) {
      words << "\n  " << run + 1 << ": " << Described(request.runs[request.streams[i].order[run]]);
    }
    words << "\nyour detector says: " << Described(*wrong)
          << "\nthe rules say: " << Described(*expected);
    testkit::TellStudent(words.str());
    return testing::AssertionFailure() << words.str();
  }
  return testing::AssertionSuccess();
}

// All streams of that many updates with a short or a long gap, and a fast or a slow value. One
// request has those that begin alike.
std::vector<WatchStreams> EveryStream(Kind saturation, int updates) {
  constexpr int kAlike = 2;
  constexpr std::uint32_t kChoices = 4;
  std::vector<WatchStreams> requests;
  for (std::uint32_t stream = 0; stream < 1U << (2 * updates); ++stream) {
    if (stream % (1U << (2 * (updates - kAlike))) == 0) {
      WatchStreams request{.recent_min = 1, .history_per_recent = 2, .rates_per_recent = 1};
      request.warn_ns = Ns(2ms);
      request.fatal_ns = Ns(1s);
      for (const Duration gap : {500ms, 1100ms}) {
        for (const Duration value : {1ms, 4ms}) {
          request.runs.push_back({.gap_ns = Ns(gap), .value_ns = Ns(value)});
        }
      }
      request.runs.push_back({.kind = saturation});
      requests.push_back(request);
    }
    auto& order = requests.back().streams.emplace_back().order;
    order.push_back(kChoices);
    for (int i = updates - 1; i >= 0; --i) order.push_back((stream >> (2 * i)) % kChoices);
  }
  return requests;
}

GRADED_TEST(DetectorModel, EveryShortStream, "7a", 3,
            "All 262,144 streams of 9 updates, after a short or a long gap and with a fast or a "
            "slow value, have the answers of rules R1 to R9.") {
  AskedDetector detector;
  for (const WatchStreams& request : testkit::Some(EveryStream(Kind::kSaturated, 9))) {
    ASSERT_TRUE(AgreeOn(detector, request));
  }
}

GRADED_TEST(LoadModel, EveryShortStream, "7b", 2,
            "All 65,536 streams of 8 updates have the answers of rules R1 to R11, too, when the "
            "replica is not saturated.") {
  AskedDetector detector;
  for (const WatchStreams& request : testkit::Some(EveryStream(Kind::kNotSaturated, 8))) {
    ASSERT_TRUE(AgreeOn(detector, request));
  }
}

// Values are far apart, so that a threshold may be a tenth off. Some are equal to a static one.
class AnyStream {
 public:
  explicit AnyStream(std::uint64_t number) : random_(testkit::TheEnvironment().seed, number) {}

  // Only updates, of a saturated replica.
  WatchStreams OfUpdates() {
    WatchStreams request = AnyOptions();
    Add(request, {.kind = Kind::kSaturated});
    while (request.runs.size() < kRuns) AddPhase(request, false);
    return request;
  }

  WatchStreams OfAll() {
    WatchStreams request = AnyOptions();
    if (OneIn(4)) unit_ = kManyBytes;
    while (request.runs.size() < kRuns) AddPhase(request, true);
    return request;
  }

 private:
  static constexpr std::size_t kRuns = 250;
  // Much work: its nanoseconds and thousandths need over 64 bits, and no rate is above 2^40.
  static constexpr std::int32_t kManyBytes = 1 << 18;

  std::uint32_t Below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_.Below(bound));
  }
  bool OneIn(std::uint32_t n) { return Below(n) == 0; }

  WatchStreams AnyOptions() {
    WatchStreams request{.recent_min = 1 + Below(6),
                         .history_per_recent = 2 + Below(4),
                         .rates_per_recent = 1 + Below(2)};
    request.window_max = OneIn(4) ? 12 : 200;
    request.warn_ns = Ns(2ms);
    request.fatal_ns = Ns(32ms);
    request.streams.resize(1);
    return request;
  }

  void Add(WatchStreams& request, const PlantedRun& run) {
    request.streams[0].order.push_back(static_cast<std::uint32_t>(request.runs.size()));
    request.runs.push_back(run);
  }

  // Some updates of one mean gap, value and work.
  void AddPhase(WatchStreams& request, bool of_all) {
    const Duration mean = 20ms * (1 << Below(5));
    const Duration value = 500us * (1 << Below(4));
    const auto work = of_all ? static_cast<std::int32_t>(Below(4)) * unit_ : 1;
    if (OneIn(4)) Add(request, {.kind = Kind::kStaticWarn, .value_ns = Ns(1ms * (1 << Below(3)))});
    if (of_all && OneIn(2)) {
      Add(request, {.kind = OneIn(2) ? Kind::kSaturated : Kind::kNotSaturated});
    }
    for (std::uint32_t left = 5 + Below(50); left > 0; --left) {
      PlantedRun run{.gap_ns = Ns(mean / 2 + random_.Below(mean)), .value_ns = Ns(value)};
      run.work = work;
      if (OneIn(8)) run.gap_ns = 0;
      if (OneIn(10)) run.value_ns *= 8;
      if (OneIn(100)) run.value_ns = Ns(200ms);
      if (of_all && OneIn(8)) run.kind = OneIn(3) ? Kind::kIdleTicks : Kind::kTicks;
      if (of_all && OneIn(60)) run = {.kind = Kind::kStall, .times = 12, .gap_ns = Ns(100ms)};
      Add(request, run);
    }
  }

  RandomStream random_;
  std::int32_t unit_ = 1;
};

constexpr std::uint64_t kStreams = 500;

GRADED_TEST(DetectorModel, RandomStreams, "7a", 3,
            "500 random streams with changing gaps and values, and windows of several sizes, have "
            "the answers of rules R1 to R9.") {
  AskedDetector detector;
  for (std::uint64_t i = 0; i < kStreams; ++i) {
    ASSERT_TRUE(AgreeOn(detector, AnyStream(i).OfUpdates())) << "stream " << i;
  }
}

GRADED_TEST(LoadModel, RandomStreams, "7b", 3,
            "500 random streams of updates with work, of ticks, of stalls and of saturation have "
            "the answers of rules R1 to R12.") {
  AskedDetector detector;
  for (std::uint64_t i = 0; i < kStreams; ++i) {
    ASSERT_TRUE(AgreeOn(detector, AnyStream(kStreams + i).OfAll())) << "stream " << i;
  }
}

}  // namespace
}  // namespace depfast::adr
