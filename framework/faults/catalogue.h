// The catalogue of faults: every kind, and one table of amounts.
//
// The simulator, the measurement, the handbook and the injectors for real processes read the same
// rows. `fault_catalogue` prints them as JSON for programs in other languages. A new kind is a name
// in FaultKind, a row of kKinds and its presets, all in this file; and a case in each
// implementation (for example sim/effects.cc).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace depfast::faults {

enum class FaultKind : std::uint8_t {
  kCpuSlow,
  kDiskSlow,
  kNetSlow,
  kCrash,
  kPartition,
  kDrop,
  kDuplicate,
  kReorder,
  kCut,
};

// The unit of a fault's amount, and how its text says it.
enum class AmountUnit : std::uint8_t {
  kNone,            // the kind has no amount
  kPercent,         // "5%"
  kBytesPerSecond,  // "128 KB/s" (of 1,024 bytes), "1000 B/s"
  kNanoseconds,     // "40 ms", "1500 ns"
  kPerMille,        // "200 per mille"
};

struct KindRow {
  FaultKind kind;
  std::string_view name;
  AmountUnit unit;
  // Bounds of the amount, both allowed.
  std::int64_t amount_min;
  std::int64_t amount_max;
  std::string_view effect;  // a sentence for people
};

inline constexpr std::int64_t kAmountMax = std::int64_t{1} << 50;

// In the order of FaultKind.
inline constexpr std::array kKinds = {
    KindRow{FaultKind::kCpuSlow, "cpu-slow", AmountUnit::kPercent, 1, 100,
            "The replica gets this share of its processor."},
    KindRow{FaultKind::kDiskSlow, "disk-slow", AmountUnit::kBytesPerSecond, 1, kAmountMax,
            "The replica's disk moves this many bytes per second."},
    KindRow{FaultKind::kNetSlow, "net-slow", AmountUnit::kNanoseconds, 0, kAmountMax,
            "The replica's network interface delays every frame it sends by this much."},
    KindRow{FaultKind::kCrash, "crash", AmountUnit::kNone, 0, 0,
            "The replica dies, loses unsynced writes, and restarts when the fault ends."},
    KindRow{FaultKind::kPartition, "partition", AmountUnit::kNone, 0, 0,
            "The replicas and the others cannot hear each other; clients reach all of them."},
    KindRow{FaultKind::kDrop, "drop", AmountUnit::kPerMille, 0, 1000,
            "This share of the frames that the replica sends to replicas is lost."},
    KindRow{FaultKind::kDuplicate, "duplicate", AmountUnit::kPerMille, 0, 1000,
            "This share of the frames that the replica sends to replicas arrives twice."},
    KindRow{FaultKind::kReorder, "reorder", AmountUnit::kPerMille, 0, 1000,
            "This share of the frames that the replica sends to replicas arrives up to 20 ms late, "
            "after younger frames."},
    KindRow{FaultKind::kCut, "cut", AmountUnit::kNone, 0, 0,
            "The named receivers do not hear the replica; it still hears them."},
};

constexpr const KindRow& RowOf(FaultKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

// A fault without its replicas and its times.
struct Strength {
  FaultKind kind;
  std::int64_t amount = 0;
};

struct Preset {
  std::string_view name;
  Strength strength;
  std::string_view source;  // of the amount
};

// Document 001 has amounts for followers in its Table 1, document 002 for followers and for leaders
// in its Table 2. The handbook's page of sources names the documents.
inline constexpr std::array kPresets = {
    Preset{"cpu-slow", {FaultKind::kCpuSlow, 5}, "document 001, Table 1; document 002, Table 2"},
    Preset{"cpu-slow-leader", {FaultKind::kCpuSlow, 50}, "document 002, Table 2 (leader)"},
    Preset{"disk-slow", {FaultKind::kDiskSlow, 128 * 1024}, "document 002, Table 2"},
    Preset{"net-slow", {FaultKind::kNetSlow, 400'000'000}, "document 001, Table 1"},
    Preset{"net-slow-40ms", {FaultKind::kNetSlow, 40'000'000}, "document 002, Table 2"},
    Preset{"crash", {FaultKind::kCrash}, "ours"},
    Preset{"partition", {FaultKind::kPartition}, "ours"},
    Preset{"drop", {FaultKind::kDrop, 200}, "ours: chaos tests"},
    Preset{"duplicate", {FaultKind::kDuplicate, 200}, "ours: chaos tests"},
    Preset{"reorder", {FaultKind::kReorder, 200}, "ours: chaos tests"},
};

// Null if there is no preset of that name.
constexpr const Preset* FindPreset(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

// The strength of a preset that the program names in its source: a wrong name does not compile.
consteval Strength PresetStrength(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return preset.strength;
  }
  throw "no such preset";
}

}  // namespace depfast::faults
