// SAUCR (lab 6): Alagappan, Ganesan, Liu, Arpaci-Dusseau and Arpaci-Dusseau, "Fault-Tolerance, Fast
// and Slow: Exploiting Failure Asynchrony in Distributed Systems", OSDI 2018.
// The overriding functions are the contract, by the base's comments. Any other private part is
// yours.
#pragma once

#include <memory>
#include <vector>

#include "saucr_base.h"
#include "saucr_rules.h"

namespace depfast::saucr {

class Saucr final : public SaucrBase {
 public:
  using SaucrBase::SaucrBase;

 private:
  // --- 6A: modes and switching ---
  void Replicate(const Round& round) override;
  AppendEntriesReply TakeEntries(const AppendEntries& request) override;
  void OnBeat(int functional) override;
  void OnSilence() override;

  // --- 6B: markers and maps ---
  // Ready once entries may be acknowledged from memory, of which `appended` are new (R11, R13).
  std::shared_ptr<Event> Mark(const std::vector<EntryId>& appended);
  // Ready once the whole log is on the disk, and D and the map say so (R12, R18, R28).
  std::shared_ptr<Event> Flush();
  void FlushInBackground() override;

  // --- 6C: recovery ---
  void RecoverLle() override;
  LleReply OnLleQuery(const LleQuery& query) override;
  void OnElected(const std::vector<LleMap>& maps) override;
  bool RecoverData() override;
};

}  // namespace depfast::saucr
