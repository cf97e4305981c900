#include "depfast/verify/wait_statistics.h"

#include <algorithm>
#include <utility>

#include "depfast/host/frame.h"
#include "depfast/runtime.h"

namespace depfast {

void WaitStatistics::Totals::Add(Duration time, Duration on_path) {
  ++count;
  total += time;
  max = std::max(max, time);
  path += on_path;
}

WaitStatistics::Key WaitStatistics::KeyOf(const Task& task, const Event& event) {
  const WaitDescription wait = event.DescribeWait();
  std::vector<PeerId> peers;
  peers.reserve(wait.peers.size());
  for (const WaitDescription::Peer& peer : wait.peers) peers.push_back(peer.id);
  const bool has_dependency = task.dependency.kind != Dependency::Kind::kNone;
  return {task.name, event.Label(), wait.needed, wait.total, std::move(peers), has_dependency};
}

// Answers of a replica to another one end no client's path.
void WaitStatistics::OnAnswer(const Runtime& runtime, PeerId peer, const Dependency& dependency) {
  if (peer < kFirstClient || dependency.kind != Dependency::Kind::kClient) return;
  answered_.insert(dependency.id);
  for (auto& [id, open] : open_) {
    if (!open.on_path || open.task.dependency != dependency) continue;
    open.path = runtime.Now() - open.since;
    open.on_path = false;
  }
}

void WaitStatistics::OnWait(const Runtime& runtime, const Task& task, const Event& event) {
  const bool on_path =
      task.dependency.kind == Dependency::Kind::kClient && !answered_.contains(task.dependency.id);
  open_[task.id] = {task, event.weak_from_this(), runtime.Now(), on_path};
}

// The key is made now, not in OnWait: calls may have been added to a quorum meanwhile.
void WaitStatistics::OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                               Outcome) {
  const auto open = open_.find(task.id);
  const Time now = runtime.Now();
  totals_[KeyOf(task, event)].Add(now - open->second.since, open->second.PathAt(now));
  open_.erase(open);
}

std::vector<WaitRow> WaitStatistics::Rows(Time now) const {
  auto all = totals_;
  for (const auto& [id, open] : open_) {  // a wait that has not ended is the most telling one
    const auto event = open.event.lock();
    if (event != nullptr) all[KeyOf(open.task, *event)].Add(now - open.since, open.PathAt(now));
  }
  std::vector<WaitRow> rows;
  for (const auto& [key, totals] : all) {
    const auto& [coroutine, event, needed, total, peers, has_dependency] = key;
    rows.push_back({coroutine, event, needed, total, peers, totals.count, totals.total.count(),
                    totals.max.count(), has_dependency, totals.path.count()});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WaitRow& a, const WaitRow& b) { return a.total_ns > b.total_ns; });
  return rows;
}

std::string WaitStatistics::Report(const Runtime& runtime) const {
  std::string bytes;
  frame_internal::StringSink sink(bytes);
  msgpack::pack(sink, Rows(runtime.Now()));
  return bytes;
}

std::optional<std::vector<WaitRow>> WaitStatistics::Read(std::string_view report) {
  std::string error;
  return DecodeBody<std::vector<WaitRow>>(report, error);
}

}  // namespace depfast
