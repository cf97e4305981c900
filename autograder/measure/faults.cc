#include "faults.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "faults/catalogue.h"

namespace depfast::measure {
namespace {

constexpr const char* kNone = "none";
constexpr const char* kDead = "dead";  // crashed, and not restarted before the end of the load

// "kind:amount"; nothing if the text is no such thing.
std::optional<faults::Strength> StrengthIn(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const auto row = std::find_if(faults::kKinds.begin(), faults::kKinds.end(),
                                [&](const auto& each) { return each.name == name; });
  std::int64_t amount = 0;
  const auto* const end = digits.data() + digits.size();
  const auto [rest, problem] = std::from_chars(digits.data(), end, amount);
  const bool is_known = row != faults::kKinds.end() && row->slows && !NamesReceivers(row->kind);
  const bool is_number = rest == end && problem == std::errc();
  if (!is_known || !is_number || amount < row->amount_min || amount > row->amount_max) {
    return std::nullopt;
  }
  return faults::Strength{row->kind, amount};
}

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
  const auto strength = preset != nullptr ? std::optional(preset->strength) : StrengthIn(name);
  if (!strength) throw std::invalid_argument("unknown fault '" + name + "'");
  return faults::MakeFault(*strength, std::move(victims));
}

}  // namespace depfast::measure
