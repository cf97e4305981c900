#include "faults/catalogue_json.h"

#include <nlohmann/json.hpp>

#include "faults/fault.h"

namespace depfast::faults {
namespace {

const char* NameOf(AmountUnit unit) {
  static constexpr const char* kNames[] = {"none",        "percent",   "bytes-per-second",
                                           "nanoseconds", "per-mille", "bytes"};
  return kNames[static_cast<std::size_t>(unit)];
}

// "cpu-slow 5%"
std::string TextOf(const Strength& strength) {
  const std::string text = MakeFault(strength, {0}).Describe();
  return text.substr(0, text.find(" on "));
}

}  // namespace

std::string CatalogueJson() {
  auto kinds = nlohmann::ordered_json::array();
  for (const KindRow& row : kKinds) {
    kinds.push_back({{"name", row.name},
                     {"unit", NameOf(row.unit)},
                     {"amount_min", row.amount_min},
                     {"amount_max", row.amount_max},
                     {"effect", row.effect},
                     {"slows", row.slows},
                     {"to_receivers", NamesReceivers(row.kind)}});
  }
  auto presets = nlohmann::ordered_json::array();
  for (const Preset& preset : kPresets) {
    presets.push_back({{"name", preset.name},
                       {"kind", RowOf(preset.strength.kind).name},
                       {"amount", preset.strength.amount},
                       {"text", TextOf(preset.strength)},
                       {"source", preset.source}});
  }
  return nlohmann::ordered_json({{"kinds", kinds}, {"presets", presets}}).dump(2);
}

}  // namespace depfast::faults
