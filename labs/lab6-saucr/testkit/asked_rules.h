// AskedRules: the rules of the solution under test, asked of a replica.
//
//   AskedRules rules;
//   const Explored explored = Explore(scope, rules.All(), 50'000);
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <vector>

#include "asked_replica.h"
#include "rule_questions.h"
#include "saucr_model.h"
#include "saucr_rules.h"

namespace depfast::saucr {

class AskedRules : public AskedReplica<RuleAnswer> {
 public:
  // See saucr_rules.h. The answer to a question that was asked before is remembered.
  EntryIndex CommittedUpTo(EntryIndex term_began_at, const std::vector<Acks>& acks,
                           const Lives& lives);
  ModeState NextMode(const ModeState& now, int functional, const Quorums& quorums);
  bool IsOnDisk(const Markers& markers);
  std::optional<EntryId> FastSwitch(const Markers& markers, std::span<const EntryId> appended);
  std::optional<EntryId> LatestOnDisk(const Markers& markers, EntryId last, EntryId recovered);
  LleMap MapOfRound(const LleMap& known, EntryId last, const std::vector<PeerId>& named);
  LleMap Merged(const LleMap& ours, const LleMap& told);
  std::optional<EntryId> RecoveredLle(PeerId self, EntryId on_disk,
                                      const std::vector<LleMap>& answers, const Quorums& quorums);
  bool GrantsVote(bool is_recovering, EntryId ours, EntryId candidates);
  DataChoice ChooseData(EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
                        const Quorums& quorums);

  // All that an exploration asks. The AskedRules must outlive it.
  Rules All();
};

// For failure messages of GoogleTest.
void PrintTo(const EntryId& id, std::ostream* out);
void PrintTo(Mode mode, std::ostream* out);
void PrintTo(const DataChoice& choice, std::ostream* out);

}  // namespace depfast::saucr
