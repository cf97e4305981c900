// The scopes whose runs are explored. Each is safe by the rules of copilot_rules.h.
#pragma once

#include <string>
#include <vector>

#include "copilot_model.h"

namespace depfast::copilot {

// Replicas, and entries of their lanes.
inline constexpr int kPilot = 0;
inline constexpr int kCopilot = 1;
inline constexpr int kFollower = 2;
inline constexpr EntryName kP1{kPilot, 1};
inline constexpr EntryName kP2{kPilot, 2};
inline constexpr EntryName kQ1{kCopilot, 1};
inline constexpr EntryName kQ2{kCopilot, 2};

// Two entries, and no takeover.
inline const Scope kThreeReplicas{3, {kP1, kQ1}, {}};
inline const Scope kFiveReplicas{5, {kP1, kQ1}, {}};
inline const Scope kLongerLogs{3, {kP1, kP2, kQ1, kQ2}, {}};

// One takeover.
inline const Scope kTakeoverByCopilot{3, {kP1, kQ1}, {{kCopilot, kP1}}};
inline const Scope kTakeoverByFollower{3, {kP1, kQ1}, {{kFollower, kP1}}};
inline const Scope kTakeoverBesideALongerLog{3, {kP1, kQ1, kQ2}, {{kCopilot, kP1}}};
inline const Scope kTakeoverOfFive{5, {kP1, kQ1}, {{kCopilot, kP1}}};
inline const Scope kTakeoverAfterADeath{5, {kP1, kQ1}, {{kFollower, kP1}}, Crash::kPilot};
inline const Scope kTakeoverAfterBothDeaths{5, {kP1, kQ1}, {{kFollower, kP1}}, Crash::kBothPilots};
// A pilot that starts again has forgotten what it committed: it counts as one that is silent.
inline const Scope kTakeoverAfterARestart{
    3, {kP1, kQ1}, {{kFollower, kP1}}, Crash::kNobody, {}, /*pilot_restarts=*/true};

// Two takeovers.
inline const Scope kBothPilotsTakeOver{3, {kP1, kQ1}, {{kCopilot, kP1}, {kPilot, kQ1}}};
inline const Scope kTwoTakersOfOneEntry{3, {kP1, kQ1}, {{kCopilot, kP1}, {kFollower, kP1}}};
inline const std::vector<TakeoverPlan> kTakeoversOfBothLanes = {{kFollower, kP1},
                                                                {kFollower + 1, kQ1}};
inline const Scope kTwoTakersAfterBothDeaths{
    5, {kP1, kQ1}, kTakeoversOfBothLanes, Crash::kBothPilots};
// The copilot's vote for P.1 is hidden by its death. These begin after it.
inline const Scope kTwoTakersAfterAHiddenVote{
    5,
    {kP1, kQ1},
    kTakeoversOfBothLanes,
    Crash::kBothPilots,
    {"replica 0 proposes P.1 with dependency 0", "replica 1 fast-accepts P.1 dependency 0",
     "replica 2 fast-accepts P.1 dependency 0",
     "replica 0 commits P.1 with dependency 0 on the fast path",
     "replica 1 proposes Q.1 with dependency 1", "replica 3 fast-accepts Q.1 dependency 1"}};

// Q.1 is decided as a no-op, and replica 2 has not heard of that. Its proposer must refuse P.1 yet:
// a taker that knows of the proposal alone counts on that.
inline const Scope kTakerBehindANoOp{
    5,
    {kP1, kQ1},
    {{kFollower + 1, kQ1}, {kFollower, kP1}},
    Crash::kNobody,
    {"replica 0 proposes P.1 with dependency 0", "replica 1 proposes Q.1 with dependency 0",
     "replica 2 fast-accepts Q.1 dependency 0", "replica 3 takes Q.1 over",
     "replica 0 promises Q.1 at ballot 1", "replica 3 promises Q.1 at ballot 1",
     "replica 4 promises Q.1 at ballot 1", "replica 3 chooses for Q.1 a no-op",
     "replica 0 accepts Q.1 at ballot 1", "replica 3 accepts Q.1 at ballot 1",
     "replica 4 accepts Q.1 at ballot 1", "replica 3 commits Q.1 as a no-op by its takeover",
     "replica 1 learns the commit of Q.1", "replica 4 learns the commit of Q.1"}};

// A follower becomes the pilot, or the copilot, of a later view. It takes over what the voters
// knew, and proposes the other entries anew.
inline const Scope kSuccessionOfPilot{.entries = {kP1, kQ1},
                                      .succession = Succession{kPilot, kFollower}};
inline const Scope kSuccessionOfCopilot{.entries = {kP1, kQ1},
                                        .succession = Succession{kCopilot, kFollower}};
inline const Scope kSuccessorTakesOver{.entries = {kP1, kQ1},
                                       .takeovers = {{kFollower, kP1, /*in_new_view=*/true}},
                                       .succession = Succession{kPilot, kFollower}};
inline const Scope kTakeoverInNewView{.entries = {kP1, kQ1},
                                      .takeovers = {{kCopilot, kP1, /*in_new_view=*/true}},
                                      .succession = Succession{kPilot, kFollower}};
inline const Scope kTakerAndSuccessor{
    .entries = {kP1, kQ1},
    .takeovers = {{kCopilot, kP1}, {kFollower, kP1, /*in_new_view=*/true}},
    .succession = Succession{kPilot, kFollower}};
inline const Scope kSuccessionOfFive{.replicas = 5,
                                     .entries = {kP1, kQ1},
                                     .takeovers = {{kFollower, kP1, /*in_new_view=*/true}},
                                     .crash = Crash::kPilot,
                                     .succession = Succession{kPilot, kFollower}};

// Q.1 was proposed in two views, with another dependency each. Replica 3 knows the first proposal
// alone. Its proposer must refuse P.1 yet: a taker counts on that.
inline const Scope kTakerBehindALaterView{
    .replicas = 5,
    .entries = {kP1, kQ1},
    .takeovers = {{kFollower + 1, kP1}},
    .begin = {"replica 1 proposes Q.1 with dependency 0", "replica 3 fast-accepts Q.1 dependency 0",
              "replica 0 proposes P.1 with dependency 0", "replica 2 asks for lane Q",
              "replica 0 grants lane Q", "replica 4 grants lane Q",
              "replica 2 has lane Q behind Q.0", "replica 2 proposes Q.1 with dependency 1",
              "replica 1 fast-accepts Q.1 dependency 1", "replica 4 fast-accepts P.1 dependency 0"},
    .succession = Succession{kCopilot, kFollower}};

// P.1 is decided by the vote of Q.1's second proposer, which has refused nothing.
inline const Scope kTakerBehindALaterProposer{
    .replicas = 5,
    .entries = {kP1, kQ1},
    .takeovers = {{kFollower + 1, kP1}},
    .begin = {"replica 1 proposes Q.1 with dependency 0",
              "replica 0 proposes P.1 with dependency 0", "replica 2 asks for lane Q",
              "replica 0 grants lane Q", "replica 4 grants lane Q",
              "replica 2 has lane Q behind Q.0", "replica 2 proposes Q.1 with dependency 1",
              "replica 1 fast-accepts Q.1 dependency 1", "replica 4 fast-accepts P.1 dependency 0",
              "replica 2 fast-accepts P.1 dependency 0",
              "replica 0 commits P.1 with dependency 0 on the fast path",
              "replica 3 takes P.1 over", "replica 1 promises P.1 at ballot 1",
              "replica 4 promises P.1 at ballot 1"},
    .succession = Succession{kCopilot, kFollower}};

// P.1 was proposed in two views, with another dependency each. Replicas 0 and 4 know the first
// proposal alone, and have promised P.1 to a taker that knows the second.
inline const Scope kPromisesOfAnOlderProposal{
    .replicas = 5,
    .entries = {kP1, kQ1},
    .takeovers = {{kFollower + 1, kP1, /*in_new_view=*/true}},
    .begin = {"replica 1 proposes Q.1 with dependency 0",
              "replica 0 proposes P.1 with dependency 1", "replica 4 fast-accepts P.1 dependency 1",
              "replica 2 asks for lane P", "replica 1 grants lane P", "replica 3 grants lane P",
              "replica 2 has lane P behind P.0", "replica 2 proposes P.1 with dependency 0",
              "replica 3 fast-accepts P.1 dependency 0", "replica 3 takes P.1 over",
              "replica 0 promises P.1 at ballot 5", "replica 3 promises P.1 at ballot 5",
              "replica 4 promises P.1 at ballot 5"},
    .succession = Succession{kPilot, kFollower}};

struct NamedScope {
  std::string name;
  Scope scope;
};

// All of them, small ones first.
inline std::vector<NamedScope> AllScopes() {
  return {{"3 replicas, 2 entries", kThreeReplicas},
          {"5 replicas, 2 entries", kFiveReplicas},
          {"3 replicas, 4 entries", kLongerLogs},
          {"3 replicas, the copilot takes P.1 over", kTakeoverByCopilot},
          {"3 replicas, a follower takes P.1 over", kTakeoverByFollower},
          {"3 replicas, the pilot starts again", kTakeoverAfterARestart},
          {"3 replicas, a takeover beside a longer log", kTakeoverBesideALongerLog},
          {"3 replicas, both pilots take over", kBothPilotsTakeOver},
          {"3 replicas, two takers of P.1", kTwoTakersOfOneEntry},
          {"5 replicas, the copilot takes P.1 over", kTakeoverOfFive},
          {"5 replicas, the pilot is dead", kTakeoverAfterADeath},
          {"5 replicas, both pilots are dead, one taker", kTakeoverAfterBothDeaths},
          {"5 replicas, both pilots are dead, two takers", kTwoTakersAfterBothDeaths},
          {"5 replicas, a vote is hidden by a death", kTwoTakersAfterAHiddenVote},
          {"5 replicas, a taker has not heard of a no-op", kTakerBehindANoOp},
          {"3 replicas, another pilot", kSuccessionOfPilot},
          {"3 replicas, another copilot", kSuccessionOfCopilot},
          {"3 replicas, another pilot takes P.1 over", kSuccessorTakesOver},
          {"3 replicas, the copilot takes P.1 over in a later view", kTakeoverInNewView},
          {"3 replicas, another pilot beside a taker", kTakerAndSuccessor},
          {"5 replicas, another pilot takes P.1 over", kSuccessionOfFive},
          {"5 replicas, a taker has not heard of a later view", kTakerBehindALaterView},
          {"5 replicas, a taker has not heard of a later proposer", kTakerBehindALaterProposer},
          {"5 replicas, promises of an older proposal", kPromisesOfAnOlderProposal}};
}

}  // namespace depfast::copilot
