// Copilot (lab 5): Ngo, Sen and Lloyd, "Tolerating Slowdowns in Replicated State Machines using
// Copilots", OSDI 2020. No single slow replica costs the others anything, a leader included.
//
// The base class is the given half of a replica. Its comments say what each function below must do.
// The functions that override it are the contract. Any other private part is yours.
#pragma once

#include <optional>

#include "copilot_base.h"
#include "copilot_rules.h"

namespace depfast::copilot {

class Copilot final : public CopilotBase {
 public:
  using CopilotBase::CopilotBase;

 private:
  // --- 5A and 5B: a pilot's rounds, and every replica's votes ---
  void Propose(const FastAccept& proposal) override;
  std::optional<EntryIndex> RecordProposal(const FastAccept& request) override;
  bool RecordAccept(const Accept& request) override;
  PrepareReply Promise(const Prepare& request) override;

  // --- 5C: execution ---
  void RunEntries() override;

  // --- 5D: takeover ---
  bool TryTakeover(Lane lane, EntryIndex index) override;
};

}  // namespace depfast::copilot
