#include "run_shape.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

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

}  // namespace

std::vector<std::string> ShapeNames() {
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) names.emplace_back(shape.name);
  return names;
}

bool HasOnset(const std::string& shape) { return ShapeOf(shape).onset > 0s; }

testkit::LoadWindow WindowOf(const std::string& shape, Time start, std::uint64_t seed) {
  const Shape& of = ShapeOf(shape);
  const Duration healthy = of.onset > 0s ? HealthyTime(seed) : 0s;
  return {start, start + kWarmUp, start + kWarmUp + healthy + of.window};
}

faults::FaultPlan PlanOf(const std::string& shape, const faults::Fault& fault,
                         const testkit::LoadWindow& window) {
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
