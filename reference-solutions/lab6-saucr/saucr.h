// SAUCR (Alagappan, Ganesan, Liu, Arpaci-Dusseau, Arpaci-Dusseau, OSDI 2018): entries are in
// memories while many replicas are up, and on disks otherwise.
//
// A round is committed by f + 2 memories or by f + 1 disks: two quorums over the same calls. A disk
// says by two markers whether its replica has acknowledged entries that it lacks. Such a replica
// learns from f others how far its log reached, and is silent until then.
#pragma once

#include <memory>
#include <optional>
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
  // Ready once this replica may answer for entries in `mode`, of which `appended` are new.
  std::shared_ptr<Event> Keep(Mode mode, const std::vector<EntryId>& appended);

  // --- 6B: markers and maps ---
  // Ready once entries may be acknowledged from memory (R11, R13).
  std::shared_ptr<Event> Mark(const std::vector<EntryId>& appended);
  // Ready once the whole log is on the disk, and D and the map say so (R12, R18, R28).
  std::shared_ptr<Event> Flush();
  void FlushInBackground() override;

  // --- 6C: recovery ---
  void RecoverLle() override;
  LleReply OnLleQuery(const LleQuery& query) override;
  void OnElected(const std::vector<LleMap>& maps) override;
  bool RecoverData() override;
  // Waits for a while. Nothing if the answers to all questions of a term allow no choice yet.
  std::optional<DataChoice> FindData(const std::vector<Broadcast<FetchLog>>& questions);
};

}  // namespace depfast::saucr
