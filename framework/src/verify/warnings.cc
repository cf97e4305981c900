#include "depfast/verify/warnings.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace depfast {
namespace {

Warning WarningOf(WarningKind kind, const WindowFacts& facts) {
  Warning warning;
  warning.kind = kind;
  warning.replica = facts.replica;
  warning.begin_ns = facts.begin_ns;
  warning.end_ns = facts.end_ns;
  return warning;
}

Warning WarningOf(WarningKind kind, const WindowFacts& facts, const CallFacts& calls,
                  std::uint64_t count) {
  Warning warning = WarningOf(kind, facts);
  warning.wait = calls.method;
  warning.peers = {calls.peer};
  warning.count = count;
  return warning;
}

std::string WaitName(const std::string& event, int needed, int total) {
  return event + " " + std::to_string(needed) + "/" + std::to_string(total);
}

void AddBackgroundTasks(const WindowFacts& facts, std::vector<Warning>& out) {
  for (const CallFacts& calls : facts.calls) {
    if (calls.background <= thresholds::kBackgroundCalls) continue;
    out.push_back(WarningOf(WarningKind::kBackgroundTasks, facts, calls, calls.background));
  }
}

void AddRepeatedEntries(const WindowFacts& facts, std::vector<Warning>& out) {
  for (const CallFacts& calls : facts.calls) {
    if (calls.sends_of_an_entry <= thresholds::kSendsOfAnEntry) continue;
    out.push_back(WarningOf(WarningKind::kRepeatedEntries, facts, calls, calls.sends_of_an_entry));
  }
}

void AddNotFinalized(const WindowFacts& facts, std::vector<Warning>& out) {
  for (const FanOutFacts& fan_out : facts.fan_outs) {
    if (fan_out.not_finalized == 0) continue;
    Warning warning = WarningOf(WarningKind::kNotFinalized, facts);
    warning.coroutine = fan_out.coroutine;
    warning.peers = fan_out.peers;
    warning.count = fan_out.not_finalized;
    out.push_back(std::move(warning));
  }
}

// The part of each peer in a window's quorums of one kind.
class History {
 public:
  History(const WindowFacts& facts, const QuorumFacts& quorums) : facts_(facts), quorums_(quorums) {
    for (PeerId peer = 0; peer < facts.replicas; ++peer) {
      if (peer == facts.replica) continue;
      if (Counts(peer)) {
        active_.push_back(PresenceOf(peer));
        latency_of_active_.Merge(active_.back().latency);
      } else {
        inactive_.push_back(PresenceOf(peer));
      }
    }
  }

  // The inactive peers that answer, but late. Empty unless every quorum had the same peers. Then
  // the number of inactive peers is the number that a quorum can spare.
  std::vector<PeerId> Slow() const {
    if (quorums_.ready < thresholds::kQuorums) return {};
    if (std::cmp_not_equal(inactive_.size(), quorums_.total - quorums_.needed)) return {};
    std::vector<PeerId> slow;
    for (const PeerPresence& peer : inactive_) {
      if (peer.slots_answered >= thresholds::kPresence && Lags(peer)) slow.push_back(peer.peer);
    }
    return slow;
  }

  const std::vector<PeerPresence>& active() const { return active_; }

 private:
  bool Counts(PeerId peer) const {
    const auto& voters = quorums_.voters;
    const auto voter = std::find_if(voters.begin(), voters.end(),
                                    [peer](const QuorumVoter& each) { return each.peer == peer; });
    return voter != voters.end() &&
           voter->counted * 1000 >= quorums_.ready * thresholds::kInactivePermille;
  }

  PeerPresence PresenceOf(PeerId peer) const {
    for (const PeerPresence& each : facts_.presence) {
      if (each.peer == peer) return each;
    }
    return {peer, 0, {}};
  }

  bool Lags(const PeerPresence& peer) const {
    constexpr int kMedian = 500;
    return peer.latency.Percentile(kMedian) / thresholds::kLagFactor >=
           latency_of_active_.Percentile(kMedian);
  }

  const WindowFacts& facts_;
  const QuorumFacts& quorums_;
  std::vector<PeerPresence> active_;
  std::vector<PeerPresence> inactive_;
  LatencyHistogram latency_of_active_;
};

void AddTransientPerformance(const WindowFacts& facts, std::vector<Warning>& out) {
  for (const QuorumFacts& quorums : facts.quorums) {
    const History history(facts, quorums);
    std::vector<PeerId> slow = history.Slow();
    if (slow.empty()) continue;
    Warning warning = WarningOf(WarningKind::kTransientPerformance, facts);
    warning.coroutine = quorums.coroutine;
    warning.wait = WaitName(quorums.event, quorums.needed, quorums.total);
    warning.peers = std::move(slow);
    warning.count = quorums.ready;
    warning.active = history.active();
    out.push_back(std::move(warning));
  }
}

// Waits for local things, such as the next command, may take any time: they delay nobody.
void AddStalledWaits(const WindowFacts& facts, std::vector<Warning>& out) {
  for (const WaitFacts& waits : facts.waits) {
    const bool for_peers = !waits.peers.empty();
    const std::int64_t ended = for_peers ? waits.ended.worst_ns : waits.on_path.worst_ns;
    const std::int64_t open = for_peers || waits.open_on_path ? waits.open.worst_ns : 0;
    const std::int64_t worst = std::max(ended, open);
    if (worst < thresholds::kStalledAfter.count()) continue;
    Warning warning = WarningOf(WarningKind::kStalledWait, facts);
    warning.coroutine = waits.coroutine;
    warning.wait = WaitName(waits.event, waits.needed, waits.total);
    warning.peers = waits.peers;
    warning.count = waits.ended.count + waits.open.count;
    warning.worst_ns = worst;
    out.push_back(std::move(warning));
  }
}

std::string Peers(const std::vector<PeerId>& peers) {
  std::string out = peers.size() == 1 ? "replica " : "replicas ";
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (i > 0) out += i + 1 == peers.size() ? " and " : ", ";
    out += std::to_string(peers[i]);
  }
  return out;
}

// "1.2 ms"
std::string RoundedMilliseconds(std::int64_t ns) {
  const std::int64_t tenths = (ns + 50'000) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

std::string LatencyOf(const PeerPresence& peer) {
  return "replica " + std::to_string(peer.peer) + ": median " +
         RoundedMilliseconds(peer.latency.Percentile(500).count()) + ", p99 " +
         RoundedMilliseconds(peer.latency.Percentile(990).count()) + ", p99.9 " +
         RoundedMilliseconds(peer.latency.Percentile(999).count());
}

}  // namespace

const char* NameOf(WarningKind kind) {
  switch (kind) {
    case WarningKind::kBackgroundTasks:
      return "background-tasks";
    case WarningKind::kRepeatedEntries:
      return "repeated-entries";
    case WarningKind::kNotFinalized:
      return "not-finalized";
    case WarningKind::kTransientPerformance:
      return "transient-performance";
    case WarningKind::kStalledWait:
      return "stalled-wait";
  }
  return "?";
}

std::string Warning::Text() const {
  const std::string number = std::to_string(count);
  switch (kind) {
    case WarningKind::kBackgroundTasks:
      return number + " calls of " + wait + " to " + Peers(peers) +
             " belong to no request and to no heartbeat";
    case WarningKind::kRepeatedEntries:
      return wait + " sent the same entries to " + Peers(peers) + " " + number + " times";
    case WarningKind::kNotFinalized:
      return number + " coroutines '" + coroutine + "' left calls to " + Peers(peers) +
             " behind after their quorum";
    case WarningKind::kTransientPerformance: {
      std::string text = "in " + number + " quorums of '" + coroutine + "' " + Peers(peers) +
                         " answered and did not count: the others' latency is everyone's";
      for (const PeerPresence& peer : active) text += "; " + LatencyOf(peer);
      return text;
    }
    case WarningKind::kStalledWait: {
      const std::string of = peers.empty() ? "" : " for " + Peers(peers);
      return "'" + coroutine + "' waits on " + wait + of + " for " + RoundedMilliseconds(worst_ns);
    }
  }
  return "";
}

std::vector<Warning> WarningsOf(const WindowFacts& facts) {
  std::vector<Warning> out;
  AddBackgroundTasks(facts, out);
  AddRepeatedEntries(facts, out);
  AddNotFinalized(facts, out);
  AddTransientPerformance(facts, out);
  AddStalledWaits(facts, out);
  return out;
}

}  // namespace depfast
