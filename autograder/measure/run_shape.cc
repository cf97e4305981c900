#include "run_shape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "depfast/host/random.h"

namespace depfast::measure {
namespace {

constexpr Duration kWarmUp = 600ms;
// A detector learns from the window's first seconds on. Nobody knows the moment of the fault.
constexpr Duration kHealthyMin = 13s;
constexpr Duration kHealthyMax = 20s;
constexpr Duration kAfterOnset = 3s;
constexpr std::uint64_t kMoments = 902;  // the stream's number

struct Shape {
  std::string_view name;
  Duration window;
  bool begins_with_window;  // else with the load
  Duration on;              // on for this time, then off for the same, in turn; kForever: stays on
  Duration onset = 0s;      // its length; 0: the fault's begin is not drawn
};

constexpr std::array kShapes = {
    Shape{"before", 1500ms, false, kForever},
    Shape{"under", 1500ms, true, kForever},
    Shape{"flapping", 3s, true, 300ms},
    Shape{"long", 10s, false, kForever},
    Shape{"onset", 10s + kAfterOnset, true, kForever, 10s},
    Shape{"long-onset", 90s + kAfterOnset, true, kForever, 90s},
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

constexpr std::string_view kStages = "stages:";
constexpr std::int64_t kStageMsMax = 3'600'000;

struct Stages {
  Duration before;
  Duration on;
  Duration after;
};

// Requires: HasStages.
Stages StagesOf(const std::string& shape) {
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
  return {found[0], found[1], found[2]};
}

Duration WindowLength(const std::string& shape) {
  if (!HasStages(shape)) return ShapeOf(shape).window;
  const Stages stages = StagesOf(shape);
  return stages.before + stages.on + stages.after;
}

}  // namespace

bool HasStages(const std::string& shape) { return shape.starts_with(kStages); }

std::vector<std::string> ShapeNames() {
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) names.emplace_back(shape.name);
  return names;
}

bool HasOnset(const std::string& shape) { return !HasStages(shape) && ShapeOf(shape).onset > 0s; }

testkit::LoadWindow WindowOf(const std::string& shape, Time start, std::uint64_t seed) {
  const Duration healthy = HasOnset(shape) ? HealthyTime(seed) : 0s;
  return {start, start + kWarmUp, start + kWarmUp + healthy + WindowLength(shape)};
}

faults::FaultPlan PlanOf(const std::string& shape, const faults::Fault& fault,
                         const testkit::LoadWindow& window) {
  if (HasStages(shape)) {
    const Stages stages = StagesOf(shape);
    return {fault.From(window.from + stages.before).For(stages.on)};
  }
  const Shape& of = ShapeOf(shape);
  if (of.onset > 0s) return {fault.From(window.to - of.window).For(of.onset)};
  const Time begin = of.begins_with_window ? window.from : window.start;
  if (of.on == kForever) return {fault.From(begin)};
  faults::FaultPlan plan;
  for (Time on = begin; on < window.to; on += 2 * of.on) {
    plan.push_back(fault.From(on).For(of.on));
  }
  return plan;
}

}  // namespace depfast::measure
