#include "saucr.h"

#include "depfast/compound_event.h"
#include "quorum_event.h"

namespace depfast::saucr {

// Every function below is a stub, and the headers are its contract. `Our lines`: without comments.

// ---- 6A: modes and switching. Our lines: 55 ----

// TODO 6A: write the entries to the journal, broadcast MakeRound(round) to round.named, and wait
// for a QuorumEvent of memories or one of disks, over the same calls. Then AdvanceCommit, and
// ReleaseLater. TODO 6B: before all that, name the round in map().
void Saucr::Replicate(const Round& round) { (void)round; }

// TODO 6A: AppendNew, wait for Mark or Flush by the leader's mode, and Answer. A beat must not
// wait. TODO 6B: merge the leader's map into ours.
AppendEntriesReply Saucr::TakeEntries(const AppendEntries& request) {
  (void)request;
  return {};
}

// TODO 6A: SetMode to NextMode. Leaving fast mode, flush, and ask all to flush. At silence flush.
void Saucr::OnBeat(int functional) { (void)functional; }
void Saucr::OnSilence() {}

// ---- 6B: markers and maps. Our lines: 15 ----

// TODO 6B: write the fast-switch-entry, if FastSwitch names one. Until then nothing waits.
std::shared_ptr<Event> Saucr::Mark(const std::vector<EntryId>& appended) {
  (void)appended;
  return journal().MarkerDurable();
}

// TODO 6B: write LatestOnDisk and the map behind the entries. Until then entries alone are synced.
// In the background sync, and write no marker.
std::shared_ptr<Event> Saucr::Flush() { return journal().Sync(); }
void Saucr::FlushInBackground() {}

// ---- 6C: recovery. Our lines: 80 ----

// TODO 6C: write our new life, ask all others by LleQuery until a minority has answered, merge
// their maps and lives into ours, and call SetRecovered with RecoveredLle.
void Saucr::RecoverLle() {}

// TODO 6C: merge the asker's lives; answer with ours and the map once durable, unless recovering.
LleReply Saucr::OnLleQuery(const LleQuery& query) {
  (void)query;
  return {};
}

// TODO 6C: merge the voters' maps into ours.
void Saucr::OnElected(const std::vector<LleMap>& maps) { (void)maps; }

// TODO 6C: AskForLogs until ChooseData makes a choice, and adopt that log.
bool Saucr::RecoverData() { return false; }

}  // namespace depfast::saucr
