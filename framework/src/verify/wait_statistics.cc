#include "depfast/verify/wait_statistics.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/scheduler.h"
#include "depfast/host/codec.h"
#include "depfast/runtime.h"
#include "verify/wait_history.h"

namespace depfast {
namespace {

// The fields that distinguish rows.
using Key = std::tuple<std::string, std::string, int, int, std::vector<PeerId>, bool>;

Key KeyOf(const RuntimeProbe::Task& task, const Event& event) {
  const WaitDescription wait = event.DescribeWait();
  std::vector<PeerId> peers;
  peers.reserve(wait.peers.size());
  for (const WaitDescription::Peer& peer : wait.peers) peers.push_back(peer.id);
  const bool has_dependency = task.dependency.kind != Dependency::Kind::kNone;
  return {task.name, event.Label(), wait.needed, wait.total, std::move(peers), has_dependency};
}

// Answers of a replica to another one end no client's path.
bool IsOfClient(PeerId peer, const Dependency& dependency) {
  return peer >= kFirstClient && dependency.kind == Dependency::Kind::kClient;
}

std::uint64_t RunningTask(const Runtime& runtime) { return runtime.scheduler().current_task().id; }

}  // namespace

struct WaitStatistics::State {
  struct Totals {
    std::uint64_t count = 0;
    Duration total{0};
    Duration max{0};
    Duration path{0};
  };
  // A wait that has not ended.
  struct Open {
    Task task;
    std::weak_ptr<const Event> event;  // expired once the replica has stopped
  };

  // The row's place among the totals.
  std::size_t RowOf(const Key& key) {
    const auto [row, is_new] = row_of.try_emplace(key, totals.size());
    if (is_new) totals.emplace_back();
    return row->second;
  }
  std::size_t Add(const Task& task, const Event& event, Time now);
  void Answer(std::uint64_t task, Time came);
  // Takes each open call for answered now.
  void AnswerOpen(Time now);

  std::map<Key, std::size_t> row_of;
  std::vector<Totals> totals;
  std::map<std::uint64_t, Open> open;                           // by the coroutine's id
  std::map<std::pair<std::uint64_t, PeerId>, Time> unanswered;  // when clients' requests came
  WaitHistory history;
};

std::size_t WaitStatistics::State::Add(const Task& task, const Event& event, Time now) {
  const std::size_t row = RowOf(KeyOf(task, event));
  const Duration time = now - task.waits_since;
  Totals& sums = totals[row];
  ++sums.count;
  sums.total += time;
  sums.max = std::max(sums.max, time);
  return row;
}

void WaitStatistics::State::Answer(std::uint64_t task, Time came) {
  history.Answer(task, came, [this](std::size_t row, Duration time) { totals[row].path += time; });
}

void WaitStatistics::State::AnswerOpen(Time now) {
  for (const auto& [id, wait] : open) {  // a wait that has not ended is the most telling one
    const auto event = wait.event.lock();
    if (event == nullptr) continue;
    const std::size_t row = Add(wait.task, *event, now);
    history.EndWait(id, WaitHistory::kNoTask, row, wait.task.waits_since, now);
    if (wait.task.dependency.kind != Dependency::Kind::kClient) continue;
    const std::uint64_t request = wait.task.dependency.id;
    const auto came = unanswered.lower_bound({request, kFirstClient});
    if (came != unanswered.end() && came->first.first == request) Answer(id, came->second);
  }
}

WaitStatistics::WaitStatistics() : state_(std::make_unique<State>()) {}

WaitStatistics::~WaitStatistics() = default;

void WaitStatistics::OnSpawn(const Runtime& runtime, const Task& task) {
  state_->history.Begin(task.id, RunningTask(runtime));
}

void WaitStatistics::OnEnd(const Runtime&, const Task& task) { state_->history.End(task.id); }

// A client that repeats a request waits since the first one.
void WaitStatistics::OnRequest(const Runtime& runtime, PeerId peer, const Dependency& dependency) {
  if (IsOfClient(peer, dependency)) {
    state_->unanswered.try_emplace({dependency.id, peer}, runtime.Now());
  }
}

void WaitStatistics::OnAnswer(const Runtime& runtime, PeerId peer, const Dependency& dependency) {
  if (!IsOfClient(peer, dependency)) return;
  const auto request = state_->unanswered.extract({dependency.id, peer});
  if (!request.empty()) state_->Answer(RunningTask(runtime), request.mapped());
}

void WaitStatistics::OnWait(const Runtime&, const Task& task, const Event& event) {
  state_->open[task.id] = {task, event.weak_from_this()};
}

// The row is found now, not in OnWait: calls may have been added to a quorum meanwhile. The running
// coroutine is the one that has decided the event.
void WaitStatistics::OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                               Outcome) {
  const Time now = runtime.Now();
  const std::size_t row = state_->Add(task, event, now);
  state_->history.EndWait(task.id, RunningTask(runtime), row, task.waits_since, now);
  state_->open.erase(task.id);
}

std::vector<WaitRow> WaitStatistics::Rows(Time now) const {
  State all = *state_;
  all.AnswerOpen(now);
  std::vector<WaitRow> rows;
  for (const auto& [key, row] : all.row_of) {
    const State::Totals& sums = all.totals[row];
    const auto& [coroutine, event, needed, total, peers, has_dependency] = key;
    rows.push_back({coroutine, event, needed, total, peers, sums.count, sums.total.count(),
                    sums.max.count(), has_dependency, sums.path.count()});
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
