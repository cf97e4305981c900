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

#include "depfast/time.h"

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
  kCpuContention,
  kDiskContention,
  kFsDelay,
  kNetJitter,
  kPacketLoss,
  kMemoryContention,
  kMemoryShare,
  kLinkSlow,
  kDiskError,
  kDiskFull,
  kBitFlip,
  kLate,
};

// The unit of a fault's amount, and how its text says it.
enum class AmountUnit : std::uint8_t {
  kNone,            // the kind has no amount
  kPercent,         // "5%"
  kBytesPerSecond,  // "128 KB/s" (of 1,024 bytes), "1000 B/s"
  kNanoseconds,     // "40 ms", "1500 ns"
  kPerMille,        // "20%", "0.5%": the amount is in tenths of a per cent
  kBytes,           // "50 MB" (of 1,048,576), "1000 B"
};

struct KindRow {
  FaultKind kind;
  std::string_view name;
  AmountUnit unit;
  // Bounds of the amount, both allowed.
  std::int64_t amount_min;
  std::int64_t amount_max;
  std::string_view effect;  // a sentence for people
  bool slows = true;        // a replica; otherwise it stops one, or breaks messages
};

inline constexpr std::int64_t kAmountMax = std::int64_t{1} << 50;
inline constexpr Duration kReorderDelayMax = 20ms;
inline constexpr std::int64_t kDelayMax = 3'600'000'000'000;  // an hour: a sum does not overflow

// In the order of FaultKind.
inline constexpr std::array kKinds = {
    KindRow{FaultKind::kCpuSlow, "cpu-slow", AmountUnit::kPercent, 1, 100,
            "The replica gets this share of its processor."},
    KindRow{FaultKind::kDiskSlow, "disk-slow", AmountUnit::kBytesPerSecond, 1, kAmountMax,
            "The replica's disk moves this many bytes per second."},
    KindRow{FaultKind::kNetSlow, "net-slow", AmountUnit::kNanoseconds, 0, kAmountMax,
            "The replica's network interface delays every frame it sends by this much."},
    KindRow{FaultKind::kCrash, "crash", AmountUnit::kNone, 0, 0,
            "The replica dies, loses unsynced writes, and restarts when the fault ends.", false},
    KindRow{FaultKind::kPartition, "partition", AmountUnit::kNone, 0, 0,
            "The replicas and the others cannot hear each other; clients reach all of them.",
            false},
    KindRow{FaultKind::kDrop, "drop", AmountUnit::kPerMille, 0, 1000,
            "This share of the frames that the replica sends to replicas is lost.", false},
    KindRow{FaultKind::kDuplicate, "duplicate", AmountUnit::kPerMille, 0, 1000,
            "This share of the frames that the replica sends to replicas arrives twice.", false},
    KindRow{FaultKind::kReorder, "reorder", AmountUnit::kPerMille, 0, 1000,
            "This share of the frames that the replica sends to replicas arrives up to 20 ms late, "
            "after younger frames.",
            false},
    KindRow{FaultKind::kCut, "cut", AmountUnit::kNone, 0, 0,
            "The named receivers do not hear the replica; it still hears them.", false},
    KindRow{FaultKind::kCpuContention, "cpu-contention", AmountUnit::kPercent, 1, 100,
            "The replica runs for this share of every 100 ms; after that it is stopped until the "
            "next 100 ms."},
    KindRow{FaultKind::kDiskContention, "disk-contention", AmountUnit::kPercent, 1, 100,
            "The replica's disk works for the replica for this share of every 100 ms; after that "
            "another user has it until the next 100 ms."},
    KindRow{FaultKind::kFsDelay, "fs-delay", AmountUnit::kNanoseconds, 0, kDelayMax,
            "Every operation on the replica's files takes this much longer."},
    KindRow{FaultKind::kNetJitter, "net-jitter", AmountUnit::kNanoseconds, 0, kDelayMax,
            "The replica's network interface delays every frame it sends by a random time below "
            "this; frames to one receiver keep their order."},
    KindRow{FaultKind::kPacketLoss, "packet-loss", AmountUnit::kPerMille, 0, 1000,
            "This share of the packets that the replica sends is lost, and TCP sends them again: "
            "after 200 ms, then after twice as long each time. Frames to one receiver keep their "
            "order."},
    KindRow{FaultKind::kMemoryContention, "memory-contention", AmountUnit::kBytes, 1, kAmountMax,
            "All data that are resident for the replica (its heap, frames and disk writes) have "
            "this limit. Above it every step pays for paging; far above it the replica is killed, "
            "and restarts when the fault ends."},
    KindRow{FaultKind::kMemoryShare, "memory-share", AmountUnit::kPercent, 1, 100,
            "Like memory-contention. The limit is this share of the smallest heap of a replica "
            "without the fault."},
    KindRow{FaultKind::kLinkSlow, "link-slow", AmountUnit::kNanoseconds, 0, kDelayMax,
            "Frames from the replica to the named receivers take this much longer."},
    KindRow{
        FaultKind::kDiskError, "disk-error", AmountUnit::kPerMille, 0, 1000,
        "This share of the changes to the replica's files fails, and so do all later operations "
        "until the replica restarts. Of a failed append any first part may be on disk. When "
        "the fault ends, a replica that it hit is restarted."},
    KindRow{FaultKind::kDiskFull, "disk-full", AmountUnit::kBytes, 0, kAmountMax,
            "The replica's files have room for this many bytes together. An append that does not "
            "fit fails, and so do all later operations, as after a disk-error."},
    KindRow{FaultKind::kBitFlip, "bit-flip", AmountUnit::kPerMille, 0, 1000,
            "When the fault begins, one bit flips in each of the replica's files, at this share "
            "of the file's length. The damage stays when the fault ends."},
    KindRow{FaultKind::kLate, "late", AmountUnit::kNanoseconds, 0, kDelayMax,
            "Frames from the replica to the named receivers take this much longer, and younger "
            "frames may overtake them.",
            false},
};

// Whether faults of this kind name the receivers of frames, see Fault::receivers.
constexpr bool NamesReceivers(FaultKind kind) {
  return kind == FaultKind::kCut || kind == FaultKind::kLinkSlow || kind == FaultKind::kLate;
}

// Whether operations on the replica's files fail under this kind.
constexpr bool FailsWrites(FaultKind kind) {
  return kind == FaultKind::kDiskError || kind == FaultKind::kDiskFull;
}

constexpr const KindRow& RowOf(FaultKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

// Whether the fault kills a replica that is far above its limit.
constexpr bool LimitsMemory(FaultKind kind) {
  return kind == FaultKind::kMemoryContention || kind == FaultKind::kMemoryShare;
}

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
// in its Table 2. Document 004 has severities in its section 2, and in its Table 2 danger zones: a
// little more of a fault costs much more. The handbook's page of sources names the documents.
//
// The contending program of documents 001 and 002 has 16 and 15 times the replica's share of a
// processor, which leaves 1/17 and 1/16; a leader's has an equal share.
inline constexpr std::array kPresets = {
    Preset{"cpu-slow", {FaultKind::kCpuSlow, 5}, "document 001, Table 1; document 002, Table 2"},
    Preset{"cpu-slow-3-percent", {FaultKind::kCpuSlow, 3}, "ours: beside document 001's 5 %"},
    Preset{"cpu-slow-leader", {FaultKind::kCpuSlow, 50}, "document 002, Table 2 (leader)"},
    Preset{"disk-slow", {FaultKind::kDiskSlow, 128 * 1024}, "document 002, Table 2"},
    Preset{"disk-slow-256kb", {FaultKind::kDiskSlow, 256 * 1024}, "ours: twice document 002's"},
    Preset{"cpu-contention-4-percent",
           {FaultKind::kCpuContention, 4},
           "ours: beside document 001's 1/17"},
    Preset{"cpu-contention",
           {FaultKind::kCpuContention, 6},
           "document 001, Table 1; document 002, Table 2"},
    Preset{
        "cpu-contention-leader", {FaultKind::kCpuContention, 50}, "document 002, Table 2 (leader)"},
    Preset{"disk-contention",
           {FaultKind::kDiskContention, 1},
           "ours: document 001, Table 1, and document 002, Table 2, have no amount"},
    Preset{"memory-contention", {FaultKind::kMemoryContention, 50 << 20}, "document 002, Table 2"},
    Preset{"memory-contention-leader",
           {FaultKind::kMemoryContention, 250 << 20},
           "document 002, Table 2 (leader)"},
    Preset{"memory-half",
           {FaultKind::kMemoryShare, 50},
           "ours: limits in bytes bind only a replica that needs more"},
    Preset{"memory-third", {FaultKind::kMemoryShare, 33}, "ours, like memory-half"},
    Preset{"fs-delay-1ms", {FaultKind::kFsDelay, 1'000'000}, "document 004, section 2"},
    Preset{"fs-delay-10ms", {FaultKind::kFsDelay, 10'000'000}, "document 004, section 2"},
    Preset{"fs-delay-100ms", {FaultKind::kFsDelay, 100'000'000}, "document 004, section 2"},
    Preset{"fs-delay-1s", {FaultKind::kFsDelay, 1'000'000'000}, "document 004, section 2"},
    Preset{"net-slow", {FaultKind::kNetSlow, 400'000'000}, "document 001, Table 1"},
    Preset{"net-slow-40ms",
           {FaultKind::kNetSlow, 40'000'000},
           "document 002, Table 2 (follower and leader)"},
    Preset{"net-slow-100us", {FaultKind::kNetSlow, 100'000}, "document 004, section 2"},
    Preset{"net-slow-1ms",
           {FaultKind::kNetSlow, 1'000'000},
           "document 004, section 2; Table 2: the danger zone of etcd's followers begins"},
    Preset{"net-slow-3ms",
           {FaultKind::kNetSlow, 3'000'000},
           "document 004, Table 2: the danger zone of etcd's followers ends"},
    Preset{"net-slow-10ms", {FaultKind::kNetSlow, 10'000'000}, "document 004, section 2"},
    Preset{"net-slow-100ms", {FaultKind::kNetSlow, 100'000'000}, "document 004, section 2"},
    Preset{"net-slow-1s", {FaultKind::kNetSlow, 1'000'000'000}, "document 004, section 2"},
    Preset{"net-jitter", {FaultKind::kNetJitter, 40'000'000}, "ours: up to document 002's delay"},
    Preset{"packet-loss-0.2-percent",
           {FaultKind::kPacketLoss, 2},
           "document 004, Table 2: the danger zone of etcd's followers begins"},
    Preset{"packet-loss-1-percent", {FaultKind::kPacketLoss, 10}, "document 004, section 2"},
    Preset{"packet-loss-2-percent",
           {FaultKind::kPacketLoss, 20},
           "document 004, Table 2: the danger zone of etcd's followers ends"},
    Preset{"packet-loss-10-percent", {FaultKind::kPacketLoss, 100}, "document 004, section 2"},
    Preset{"packet-loss-40-percent", {FaultKind::kPacketLoss, 400}, "document 004, section 2"},
    Preset{"packet-loss-70-percent", {FaultKind::kPacketLoss, 700}, "document 004, section 2"},
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
