#include "commits.h"

#include <string>
#include <utility>

#include "saucr_observations.h"

namespace depfast::saucr {

void Commits::UpTo(EntryIndex index) {
  if (index <= state_.commit_index) return;
  Runtime& runtime = state_.runtime;
  const EntryIndex first = std::exchange(state_.commit_index, index) + 1;
  ObserveCommit(runtime, index);
  for (EntryIndex i = first; i <= index; ++i) {
    const LogEntry& entry = state_.log.At(i);
    ObserveApply(runtime, i, entry.term, entry.command);
    const std::string result = entry.command.empty() ? "" : machine_.Apply(i, entry.command);
    const auto client = waiting_.extract(i);
    if (client) client.mapped()({SubmitStatus::kCommitted, runtime.self(), i, result});
  }
  for (const auto& [last, is_over] : rounds_) {
    if (last <= index) is_over->Set(1);
  }
  snapshots_.CompactIfLarge();
}

std::shared_ptr<Event> Commits::BeginRound(EntryIndex last) {
  return rounds_[last] = std::make_shared<IntEvent>("committed", 1);
}

void Commits::GiveUp(PeerId leader) {
  for (const auto& [last, is_over] : rounds_) is_over->Set(1);
  for (const auto& [index, done] : std::exchange(waiting_, {})) {
    done({SubmitStatus::kUnknown, leader, index, ""});
  }
}

}  // namespace depfast::saucr
