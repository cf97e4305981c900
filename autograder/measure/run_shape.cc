#include "run_shape.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace depfast::measure {
namespace {

constexpr Duration kWarmUp = 600ms;

struct Shape {
  std::string_view name;
  Duration window;
  bool begins_with_window;  // else with the load
  Duration on;              // on for this time, then off for the same, in turn; kForever: stays on
};

constexpr std::array kShapes = {
    Shape{"before", 1500ms, false, kForever},
    Shape{"under", 1500ms, true, kForever},
    Shape{"flapping", 3s, true, 300ms},
    Shape{"long", 10s, false, kForever},
};

const Shape& ShapeOf(const std::string& name) {
  const auto shape = std::find_if(kShapes.begin(), kShapes.end(),
                                  [&](const Shape& each) { return each.name == name; });
  if (shape == kShapes.end()) throw std::invalid_argument("unknown shape '" + name + "'");
  return *shape;
}

}  // namespace

std::vector<std::string> ShapeNames() {
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) names.emplace_back(shape.name);
  return names;
}

testkit::LoadWindow WindowOf(const std::string& shape, Time start) {
  return {start, start + kWarmUp, start + kWarmUp + ShapeOf(shape).window};
}

faults::FaultPlan PlanOf(const std::string& shape, const faults::Fault& fault,
                         const testkit::LoadWindow& window) {
  const Shape& of = ShapeOf(shape);
  const Time begin = of.begins_with_window ? window.from : window.start;
  if (of.on == kForever) return {fault.From(begin)};
  faults::FaultPlan plan;
  for (Time on = begin; on < window.to; on += 2 * of.on) {
    plan.push_back(fault.From(on).For(of.on));
  }
  return plan;
}

}  // namespace depfast::measure
