// Questions to your rules (saucr_rules.h). Given, not submitted.
//
// A test cannot call your functions: it runs in another process. It asks a replica, whose driver
// calls them.
#pragma once

#include <cstdint>
#include <msgpack.hpp>
#include <vector>

#include "depfast/host/frame.h"
#include "saucr_rules.h"

namespace depfast::saucr {

// The answer of any rule, as a message. Each question says which parts it fills.
struct RuleAnswer {
  std::int64_t number = 0;
  bool has_entry = false;
  EntryId entry = {};
  LleMap map = {};
  ModeState mode = {};
  DataChoice choice = {};
  MSGPACK_DEFINE(number, has_entry, entry, map, mode, choice)
};

// Answer: `number`, an index.
struct AskCommitted {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 121;
  static constexpr const char* kName = "AskCommitted";
  EntryIndex term_began_at = 0;
  std::vector<Acks> acks;
  Lives lives;
  MSGPACK_DEFINE(term_began_at, acks, lives)
};

// Answer: `mode`.
struct AskMode {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 122;
  static constexpr const char* kName = "AskMode";
  ModeState now;
  std::int32_t functional = 0;
  std::int32_t replicas = 3;
  MSGPACK_DEFINE(now, functional, replicas)
};

// Answer: `number`, 1 or 0.
struct AskIsOnDisk {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 123;
  static constexpr const char* kName = "AskIsOnDisk";
  Markers markers;
  MSGPACK_DEFINE(markers)
};

// Answer: `entry`, if `has_entry`.
struct AskFastSwitch {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 124;
  static constexpr const char* kName = "AskFastSwitch";
  Markers markers;
  std::vector<EntryId> appended;
  MSGPACK_DEFINE(markers, appended)
};

// Answer: `entry`, if `has_entry`.
struct AskLatestOnDisk {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 125;
  static constexpr const char* kName = "AskLatestOnDisk";
  Markers markers;
  EntryId last;
  EntryId recovered;
  MSGPACK_DEFINE(markers, last, recovered)
};

// Answer: `map`.
struct AskMapOfRound {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 126;
  static constexpr const char* kName = "AskMapOfRound";
  LleMap known;
  EntryId last;
  std::vector<PeerId> named;
  MSGPACK_DEFINE(known, last, named)
};

// Answer: `map`.
struct AskMerged {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 127;
  static constexpr const char* kName = "AskMerged";
  LleMap ours;
  LleMap told;
  MSGPACK_DEFINE(ours, told)
};

// Answer: `entry`, if `has_entry`.
struct AskRecoveredLle {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 128;
  static constexpr const char* kName = "AskRecoveredLle";
  PeerId self = 0;
  EntryId on_disk;
  std::vector<LleMap> answers;
  std::int32_t replicas = 3;
  MSGPACK_DEFINE(self, on_disk, answers, replicas)
};

// Answer: `number`, 1 or 0.
struct AskVote {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 129;
  static constexpr const char* kName = "AskVote";
  bool is_recovering = false;
  EntryId ours;
  EntryId candidates;
  MSGPACK_DEFINE(is_recovering, ours, candidates)
};

// Answer: `choice`.
struct AskData {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 130;
  static constexpr const char* kName = "AskData";
  EntryId own;
  EntryId recovered;
  std::vector<LogAnswer> answers;
  std::int32_t replicas = 3;
  MSGPACK_DEFINE(own, recovered, answers, replicas)
};

}  // namespace depfast::saucr
