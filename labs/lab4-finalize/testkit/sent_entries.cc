#include "sent_entries.h"

#include <string>

#include "depfast/host/frame.h"
#include "raft_messages.h"

namespace depfast::lab4 {

SentEntries::SentEntries(sim::Simulator& simulator) { simulator.AddObserver(this); }

SentEntries::Count SentEntries::To(PeerId follower) const {
  const auto found = followers_.find(follower);
  if (found == followers_.end()) return {};
  Count count{.entries = found->second.times.size(), .repeated = found->second.chunks};
  for (const auto& [entry, times] : found->second.times) count.repeated += times - 1;
  return count;
}

void SentEntries::OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time, const Bytes& frame) {
  if (stage != sim::FrameStage::kQueued || from >= kFirstClient || to >= kFirstClient) return;
  std::string error;
  const auto sent = DecodeFrame(*frame, error);
  if (!sent || sent->header.kind != FrameKind::kRequest) return;
  if (sent->header.method == raft::AppendEntries::kMethod) OnAppend(followers_[to], sent->body);
  if (sent->header.method == raft::InstallSnapshot::kMethod) ++followers_[to].chunks;
}

void SentEntries::OnAppend(Follower& follower, std::string_view body) {
  std::string error;
  const auto append = DecodeBody<raft::AppendEntries>(body, error);
  if (!append || append->entries.empty()) return;
  std::uint64_t index = append->prev_log_index;
  for (const raft::LogEntry& entry : append->entries) ++follower.times[{entry.term, ++index}];
}

}  // namespace depfast::lab4
