#include "faults.h"

#include <stdexcept>
#include <utility>

#include "faults/catalogue.h"

namespace depfast::measure {
namespace {

constexpr const char* kNone = "none";
constexpr const char* kDead = "dead";  // crashed, and not restarted before the end of the load

}  // namespace

std::vector<std::string> FaultNames() {
  std::vector<std::string> names = {kNone, kDead};
  for (const faults::Preset& preset : faults::kPresets) names.emplace_back(preset.name);
  return names;
}

std::optional<faults::Fault> FaultOf(const std::string& name, std::vector<PeerId> victims) {
  if (name == kNone) return std::nullopt;
  if (name == kDead) return faults::CrashFault(std::move(victims));
  const faults::Preset* preset = faults::FindPreset(name);
  if (preset == nullptr) throw std::invalid_argument("unknown fault '" + name + "'");
  return faults::MakeFault(preset->strength, std::move(victims));
}

}  // namespace depfast::measure
