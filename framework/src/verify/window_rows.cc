#include "verify/window_rows.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace depfast {
namespace {

bool SamePeers(const std::vector<PeerId>& peers, const WaitDescription& wait) {
  return std::equal(peers.begin(), peers.end(), wait.peers.begin(), wait.peers.end(),
                    [](PeerId one, const WaitDescription::Peer& other) { return one == other.id; });
}

// The row that `is_it` accepts; a new one at the end if there is none.
template <typename Row, typename IsIt>
std::pair<Row*, bool> FindOrAdd(std::vector<Row>& rows, const IsIt& is_it) {
  const auto row = std::find_if(rows.begin(), rows.end(), is_it);
  if (row != rows.end()) return {&*row, false};
  return {&rows.emplace_back(), true};
}

auto NameOf(const WaitFacts& row) {
  return std::tie(row.coroutine, row.event, row.needed, row.total, row.peers, row.has_dependency);
}
auto NameOf(const CallFacts& row) { return std::tie(row.method, row.peer); }
auto NameOf(const QuorumFacts& row) {
  return std::tie(row.coroutine, row.event, row.needed, row.total);
}
auto NameOf(const FanOutFacts& row) { return std::tie(row.coroutine); }
auto NameOf(const ClientFacts& row) { return std::tie(row.client); }

template <typename Row>
void Sort(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return NameOf(a) < NameOf(b); });
}

}  // namespace

WaitFacts& WindowRows::WaitsOf(const RuntimeProbe::Task& task, std::string_view event,
                               const WaitDescription& wait) {
  const bool has_dependency = task.dependency.kind != Dependency::Kind::kNone;
  const auto [row, is_new] = FindOrAdd(waits_, [&](const WaitFacts& each) {
    return each.needed == wait.needed && each.total == wait.total &&
           each.has_dependency == has_dependency && each.coroutine == task.name &&
           each.event == event && SamePeers(each.peers, wait);
  });
  if (is_new) {
    row->coroutine = task.name;
    row->event = event;
    row->needed = wait.needed;
    row->total = wait.total;
    row->has_dependency = has_dependency;
    for (const auto& peer : wait.peers) row->peers.push_back(peer.id);
  }
  return *row;
}

WindowRows::Calls& WindowRows::CallsOf(std::string_view method, PeerId peer) {
  const auto [row, is_new] = FindOrAdd(calls_, [&](const Calls& each) {
    return each.facts.peer == peer && each.facts.method == method;
  });
  if (is_new) {
    row->facts.method = method;
    row->facts.peer = peer;
  }
  return *row;
}

QuorumFacts& WindowRows::QuorumsOf(std::string_view coroutine, std::string_view event,
                                   const WaitDescription& wait) {
  const auto [row, is_new] = FindOrAdd(quorums_, [&](const QuorumFacts& each) {
    return each.needed == wait.needed && each.total == wait.total && each.coroutine == coroutine &&
           each.event == event;
  });
  if (is_new) {
    row->coroutine = coroutine;
    row->event = event;
    row->needed = wait.needed;
    row->total = wait.total;
  }
  return *row;
}

WindowRows::FanOuts& WindowRows::FanOutsOf(std::string_view coroutine) {
  const auto [row, is_new] =
      FindOrAdd(fan_outs_, [&](const FanOuts& each) { return each.coroutine == coroutine; });
  if (is_new) row->coroutine = coroutine;
  return *row;
}

ClientFacts& WindowRows::ClientOf(PeerId client) {
  ClientFacts& facts = clients_[client];
  facts.client = client;
  return facts;
}

void WindowRows::AddAnswer(PeerId peer, std::uint32_t slot, Duration latency, bool took) {
  Presence& presence = presence_[peer];
  presence.slots |= std::uint32_t{1} << slot;
  presence.latency.Add(latency);
  if (took) presence.latency_of_entries.Add(latency);
}

void WindowRows::AppendTo(WindowFacts& facts) const {
  facts.waits = waits_;
  for (const Calls& calls : calls_) {
    facts.calls.push_back(calls.facts);
    facts.calls.back().sends_of_an_entry = calls.entries.most();
  }
  facts.quorums = quorums_;
  for (const FanOuts& row : fan_outs_) {
    facts.fan_outs.push_back(
        {row.coroutine, row.tasks.size(), {row.peers.begin(), row.peers.end()}});
  }
  const bool has_entries = std::any_of(presence_.begin(), presence_.end(), [](const auto& each) {
    return each.second.latency_of_entries.count() > 0;
  });
  for (const auto& [peer, presence] : presence_) {
    facts.presence.push_back({peer, static_cast<std::uint32_t>(std::popcount(presence.slots)),
                              has_entries ? presence.latency_of_entries : presence.latency});
  }
  for (const auto& [client, row] : clients_) facts.clients.push_back(row);
  Sort(facts.waits);
  Sort(facts.calls);
  Sort(facts.quorums);
  Sort(facts.fan_outs);
  Sort(facts.clients);
}

}  // namespace depfast
