#include "depfast/verify/wait_statistics.h"

#include <algorithm>
#include <utility>

#include "depfast/host/frame.h"
#include "depfast/runtime.h"

namespace depfast {

void WaitStatistics::Totals::Add(Duration time) {
  ++count;
  total += time;
  max = std::max(max, time);
}

WaitStatistics::Key WaitStatistics::KeyOf(const char* coroutine, const Event& event) {
  const WaitDescription wait = event.DescribeWait();
  std::vector<PeerId> peers;
  peers.reserve(wait.peers.size());
  for (const WaitDescription::Peer& peer : wait.peers) peers.push_back(peer.id);
  return {coroutine, event.Label(), wait.needed, wait.total, std::move(peers)};
}

void WaitStatistics::OnWait(const Runtime& runtime, const Task& task, const Event& event) {
  open_[task.id] = {task.name, event.weak_from_this(), runtime.Now()};
}

// The key is made now, not in OnWait: calls may have been added to a quorum meanwhile.
void WaitStatistics::OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                               Outcome) {
  const auto open = open_.find(task.id);
  totals_[KeyOf(task.name, event)].Add(runtime.Now() - open->second.since);
  open_.erase(open);
}

std::vector<WaitRow> WaitStatistics::Rows(Time now) const {
  auto all = totals_;
  for (const auto& [id, open] : open_) {  // a wait that has not ended is the most telling one
    const auto event = open.event.lock();
    if (event != nullptr) all[KeyOf(open.coroutine, *event)].Add(now - open.since);
  }
  std::vector<WaitRow> rows;
  for (const auto& [key, totals] : all) {
    const auto& [coroutine, event, needed, total, peers] = key;
    rows.push_back({coroutine, event, needed, total, peers, totals.count, totals.total.count(),
                    totals.max.count()});
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
