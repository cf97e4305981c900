#include "sent_entries.h"

#include <string>

#include "depfast/host/frame.h"
#include "raft_messages.h"

namespace depfast::lab4 {

SentEntries::SentEntries(sim::Simulator& simulator) { simulator.AddObserver(this); }

SentEntries::Count SentEntries::To(PeerId follower) const {
  const auto found = followers_.find(follower);
  if (found == followers_.end()) return {};
  const Follower& follower_has = found->second;
  Count count{.entries = follower_has.times.size(),
              .repeated = follower_has.chunks,
              .entry_bytes = follower_has.entry_bytes,
              .bytes = follower_has.bytes};
  for (const auto& [entry, times] : follower_has.times) count.repeated += times - 1;
  return count;
}

void SentEntries::OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time, const Bytes& frame) {
  if (stage != sim::FrameStage::kQueued || from >= kFirstClient || to >= kFirstClient) return;
  followers_[to].bytes += frame->size();
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
  for (const raft::LogEntry& entry : append->entries) {
    if (++follower.times[{entry.term, ++index}] == 1) follower.entry_bytes += entry.command.size();
  }
}

}  // namespace depfast::lab4
