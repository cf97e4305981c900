#include "run_shape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "depfast/host/random.h"

namespace depfast::measure {
namespace {

constexpr Duration kWarmUp = 600ms;
// A detector learns from the window's first seconds on. Nobody knows the moment of the fault.
constexpr Duration kHealthyMin = 13s;
constexpr Duration kHealthyMax = 20s;
// A shift begins in the first 10 s of a history, and a detector may look for 10 s after them.
constexpr Duration kShiftedMin = 23500ms;
constexpr Duration kTailMean = 3s;
constexpr Duration kTailMax = 20s;
constexpr Duration kRelearned = 13500ms;
constexpr Duration kAfterOnset = 3s;
constexpr Duration kAfterReturn = 10s;
constexpr std::uint64_t kMoments = 902;  // the stream's number

struct Shape {
  std::string_view name;
  Duration window;
  bool begins_with_window;  // else with the load
  Duration on;              // on for this time, then off for the same, in turn; kForever: stays on
};

constexpr std::array kShapes = {
    Shape{"before", 1500ms, false, kForever}, Shape{"under", 1500ms, true, kForever},
    Shape{"flapping", 3s, true, 300ms},       Shape{"long", 10s, false, kForever},
    Shape{"changing", 60s, true, kForever},
};

const Shape& ShapeOf(const std::string& name) {
  const auto shape = std::find_if(kShapes.begin(), kShapes.end(),
                                  [&](const Shape& each) { return each.name == name; });
  if (shape == kShapes.end()) throw std::invalid_argument("unknown shape '" + name + "'");
  return *shape;
}

// In whole slices of a load.
Duration HealthyTime(std::uint64_t seed) {
  constexpr auto kSlices = static_cast<std::uint64_t>((kHealthyMax - kHealthyMin) / 100ms);
  RandomStream stream(seed, 0, kMoments);
  return kHealthyMin + static_cast<std::int64_t>(stream.Below(kSlices + 1)) * 100ms;
}

// The tail is geometric, in slices.
Duration TimeToAShiftedFault(std::uint64_t seed) {
  RandomStream stream(seed, 0, kMoments);
  Duration time = kShiftedMin;
  while (time < kShiftedMin + kTailMax && stream.Below(kTailMean / 100ms) != 0) time += 100ms;
  return time;
}

constexpr std::string_view kStages = "stages:";
constexpr std::int64_t kStageMsMax = 3'600'000;

struct Stages {
  std::optional<Duration> before;  // nothing: drawn
  bool shifts = false;
  Duration on;
  Duration after;
};

// Requires: IsOfSweep.
Stages ParsedStages(const std::string& shape) {
  std::vector<Duration> found;
  const char* at = shape.data() + kStages.size();
  const char* const end = shape.data() + shape.size();
  while (found.size() < 3) {
    std::int64_t ms = 0;
    const auto [rest, problem] = std::from_chars(at, end, ms);
    const bool is_last = found.size() == 2;
    const bool ends_well = is_last ? rest == end : rest != end && *rest == ',';
    if (problem != std::errc() || !ends_well || ms < 1 || ms > kStageMsMax) {
      throw std::invalid_argument("'" + shape + "' does not name three stages in ms");
    }
    found.emplace_back(std::chrono::milliseconds(ms));
    at = rest + 1;
  }
  return {found[0], false, found[1], found[2]};
}

std::optional<Stages> StagesOf(const std::string& shape) {
  if (shape == "onset") return Stages{std::nullopt, false, 10s, kAfterOnset};
  if (shape == "long-onset") return Stages{std::nullopt, false, 50s, kAfterOnset};
  if (shape == "return") return Stages{std::nullopt, false, 10s, kAfterReturn};
  if (shape == "shift") return Stages{std::nullopt, true, 10s, kAfterOnset};
  if (shape == "shift-return") return Stages{std::nullopt, true, 10s, kAfterReturn};
  return IsOfSweep(shape) ? std::optional(ParsedStages(shape)) : std::nullopt;
}

}  // namespace

bool IsOfSweep(const std::string& shape) { return shape.starts_with(kStages); }

bool HasStages(const std::string& shape) { return StagesOf(shape).has_value(); }

testkit::LoadWindow WindowOf(const std::string& shape, Time start, std::uint64_t seed) {
  const Time from = start + kWarmUp;
  const auto stages = StagesOf(shape);
  if (!stages) return {start, from, from + ShapeOf(shape).window};
  const Duration drawn = stages->shifts ? TimeToAShiftedFault(seed) : HealthyTime(seed);
  const Duration before = stages->before.value_or(drawn);
  return {start, from, from + before + stages->on + stages->after};
}

faults::FaultPlan PlanOf(const std::string& shape, const faults::Fault& fault,
                         const testkit::LoadWindow& window) {
  if (const auto stages = StagesOf(shape)) {
    return {fault.From(window.to - stages->after - stages->on).For(stages->on)};
  }
  const Shape& of = ShapeOf(shape);
  const Time begin = of.begins_with_window ? window.from : window.start;
  if (of.on == kForever) return {fault.From(begin)};
  faults::FaultPlan plan;
  for (Time on = begin; on < window.to; on += 2 * of.on) {
    plan.push_back(fault.From(on).For(of.on));
  }
  return plan;
}

std::optional<Time> ShiftOf(const std::string& shape, const testkit::LoadWindow& window) {
  const Stages stages = StagesOf(shape).value();
  if (!stages.shifts) return std::nullopt;
  return window.to - stages.after - stages.on - kRelearned;
}

}  // namespace depfast::measure
