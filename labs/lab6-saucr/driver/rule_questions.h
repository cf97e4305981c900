// Questions to your rules (saucr_rules.h). Given, not submitted.
//
// A test cannot call your functions: it runs in another process. It asks a replica, whose driver
// calls them.
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "depfast/host/codec.h"
#include "saucr_rules.h"

namespace depfast::saucr {

// Quorums in a message. Without a meaning if a replica is asked about a number that they refuse.
struct CarriedQuorums {
  int replicas = 3;

  operator Quorums() const { return Quorums(replicas); }  // NOLINT: stands for them
  DEPFAST_FIELDS(replicas)
};

// A rule's argument, as a message carries it.
template <typename Argument>
Argument Carried(const Argument& argument) {
  return argument;
}
inline CarriedQuorums Carried(const Quorums& quorums) { return {quorums.replicas()}; }
inline std::vector<EntryId> Carried(std::span<const EntryId> ids) {
  return {ids.begin(), ids.end()};
}

// The arguments of a rule; the reply is its result.
template <MethodId kId, typename Function>
struct RuleQuestion;

template <MethodId kId, typename Result, typename... Arguments>
struct RuleQuestion<kId, Result(Arguments...)> {
  using Rule = Result(Arguments...);
  struct Reply {
    Result result = {};
    DEPFAST_FIELDS(result)
  };
  static constexpr MethodId kMethod = kId;
  static constexpr const char* kName = "RuleQuestion";

  std::tuple<decltype(Carried(std::declval<Arguments>()))...> arguments;
  DEPFAST_FIELDS(arguments)
};

using AskCommitted = RuleQuestion<121, decltype(CommittedUpTo)>;
using AskMode = RuleQuestion<122, decltype(NextMode)>;
using AskIsOnDisk = RuleQuestion<123, decltype(IsOnDisk)>;
using AskFastSwitch = RuleQuestion<124, decltype(FastSwitch)>;
using AskLatestOnDisk = RuleQuestion<125, decltype(LatestOnDisk)>;
using AskMapOfRound = RuleQuestion<126, decltype(MapOfRound)>;
using AskMerged = RuleQuestion<127, decltype(Merged)>;
using AskRecoveredLle = RuleQuestion<128, decltype(RecoveredLle)>;
using AskVote = RuleQuestion<129, decltype(GrantsVote)>;
using AskData = RuleQuestion<130, decltype(ChooseData)>;

}  // namespace depfast::saucr
