// The catalogue: rows that fit their kinds, presets within their bounds, and the JSON of both.
#include "faults/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>

#include "faults/catalogue_json.h"
#include "faults/fault.h"

namespace depfast::faults {
namespace {

TEST(Catalogue, EveryKindHasItsRowInOrder) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kKinds[i].kind), i) << kKinds[i].name;
    EXPECT_LE(kKinds[i].amount_min, kKinds[i].amount_max) << kKinds[i].name;
    EXPECT_FALSE(kKinds[i].effect.empty()) << kKinds[i].name;
  }
}

TEST(Catalogue, NamesAreUnique) {
  std::set<std::string_view> kinds;
  for (const KindRow& row : kKinds) EXPECT_TRUE(kinds.insert(row.name).second) << row.name;
  std::set<std::string_view> presets;
  for (const Preset& preset : kPresets) {
    EXPECT_TRUE(presets.insert(preset.name).second) << preset.name;
  }
}

TEST(Catalogue, PresetsAreWithinTheBoundsOfTheirKinds) {
  for (const Preset& preset : kPresets) {
    const KindRow& row = RowOf(preset.strength.kind);
    EXPECT_GE(preset.strength.amount, row.amount_min) << preset.name;
    EXPECT_LE(preset.strength.amount, row.amount_max) << preset.name;
    EXPECT_FALSE(preset.source.empty()) << preset.name;
  }
}

TEST(Catalogue, PresetsAreFoundByName) {
  const Preset* preset = FindPreset("net-slow-40ms");
  ASSERT_NE(preset, nullptr);
  EXPECT_EQ(preset->strength.kind, FaultKind::kNetSlow);
  EXPECT_EQ(preset->strength.amount, 40'000'000);
  EXPECT_EQ(FindPreset("net-slow-4"), nullptr);
}

TEST(Catalogue, TheJsonHasEveryRow) {
  const auto json = nlohmann::json::parse(CatalogueJson());
  ASSERT_EQ(json.at("kinds").size(), kKinds.size());
  ASSERT_EQ(json.at("presets").size(), kPresets.size());
  EXPECT_EQ(json.at("kinds").at(0).at("name"), "cpu-slow");
  EXPECT_EQ(json.at("kinds").at(0).at("unit"), "percent");
  EXPECT_EQ(json.at("kinds").at(0).at("amount_max"), 100);
  EXPECT_EQ(json.at("kinds").at(0).at("slows"), true);
  EXPECT_EQ(json.at("kinds").at(3).at("name"), "crash");
  EXPECT_EQ(json.at("kinds").at(3).at("slows"), false);
  const auto& presets = json.at("presets");
  const auto found = std::find_if(presets.begin(), presets.end(), [](const auto& preset) {
    return preset.at("name") == "disk-slow";
  });
  ASSERT_NE(found, presets.end());
  const auto& disk = *found;
  EXPECT_EQ(disk.at("kind"), "disk-slow");
  EXPECT_EQ(disk.at("amount"), 131072);
  EXPECT_EQ(disk.at("text"), "disk-slow 128 KB/s");
  EXPECT_EQ(disk.at("source"), "document 002, Table 2");
}

}  // namespace
}  // namespace depfast::faults
