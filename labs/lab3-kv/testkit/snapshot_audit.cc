#include "snapshot_audit.h"

#include <iterator>
#include <utility>

#include "linearizability/replies.h"
#include "testkit/cluster.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

// A log may want several replicas. The others stay down.
constexpr int kReplicas = 3;
constexpr PeerId kFresh = 0;
constexpr Duration kAtMost = 20s;
// Bytes of the commands in one request.
constexpr std::size_t kBytesAtOnce = std::size_t{2} << 20;
// A snapshot has about this number of pieces, so that commands come between them.
constexpr std::size_t kPieces = 20;

sim::SimOptions Options() {
  sim::SimOptions options;
  options.replicas = kReplicas;
  options.seed = testkit::SeedOf(1);
  options.profile = sim::Profile::Lab();
  options.make_backend = testkit::ReplicasUnderTest();
  return options;
}

}  // namespace

SnapshotAudit::SnapshotAudit() : simulator_(Options()), client_(simulator_) {
  simulator_.Start();
  for (PeerId id = 0; id < kReplicas; ++id) simulator_.Crash(id);
}

void SnapshotAudit::AddEntry(std::uint64_t index, const Command& command, const Reply& reply) {
  entries_[index] = {EncodeCommand(command), reply};
}

std::string SnapshotAudit::WhyNot(std::uint64_t index, const std::string& snapshot) {
  const auto known = states_.find(index);
  if (known != states_.end()) {
    if (known->second == snapshot) return "";
    return Differs("an earlier audit found another snapshot there");
  }
  states_[index] = snapshot;
  const auto here = states_.find(index);
  std::string problem;
  if (here != states_.begin()) {
    problem = Follow(std::prev(here)->first, index);
  } else {
    problem = WhyNotRestored(snapshot);
  }
  const auto next = std::next(here);
  if (problem.empty() && next != states_.end()) problem = Follow(index, next->first);
  return problem;
}

std::string SnapshotAudit::WhyNotRestored(const std::string& snapshot) {
  const std::string problem = Begin(snapshot);
  return problem.empty() ? RefuseDamage(snapshot, snapshot) : problem;
}

// The fresh process has had an earlier state, if there is one: nothing of that may be left. It
// holds the state at `to` then.
std::string SnapshotAudit::Follow(std::uint64_t from, std::uint64_t to) {
  const std::string& before = states_.at(from);
  const std::string& after = states_.at(to);
  const auto here = states_.find(from);
  const auto earlier = here == states_.begin() ? here : std::prev(here);
  if (const std::string problem = Begin(earlier->second); !problem.empty()) return problem;
  if (const std::string problem = RestoreOver(before); !problem.empty()) return problem;
  if (const std::string problem = Execute(from, to, before); !problem.empty()) return problem;
  const auto state = State();
  if (!state) return Silence();
  if (*state != after) {
    return Differs("a store restored from the snapshot of index " + std::to_string(from) +
                   " has another state after the same entries");
  }
  if (const std::string problem = RestoreOver(before); !problem.empty()) return problem;
  if (const std::string problem = RefuseDamage(after, before); !problem.empty()) return problem;
  return RestoreOver(after);
}

std::string SnapshotAudit::Begin(const std::string& snapshot) {
  simulator_.Crash(kFresh);
  simulator_.Restart(kFresh);
  return RestoreOver(snapshot);
}

std::string SnapshotAudit::RestoreOver(const std::string& snapshot) {
  const auto reply = Ask(KvRestore{snapshot});
  if (!reply) return Silence();
  if (!reply->is_restored) return "Restore refuses a snapshot: " + reply->error;
  const auto state = State();
  if (!state) return Silence();
  if (*state == snapshot) return "";
  return Differs("a snapshot restored over another state does not give the same snapshot again");
}

std::string SnapshotAudit::Differs(std::string problem) {
  states_differ_ = true;
  return problem;
}

std::string SnapshotAudit::Execute(std::uint64_t after, std::uint64_t up_to,
                                   const std::string& before) {
  std::string state = before;
  KvExecute some{{}, {}, before.size() / kPieces + 1};
  std::vector<const Reply*> replies;
  std::size_t bytes = 0;
  for (auto next = entries_.upper_bound(after); next != entries_.end() && next->first <= up_to;) {
    some.indexes.push_back(next->first);
    some.commands.push_back(next->second.command);
    replies.push_back(&next->second.reply);
    bytes += next->second.command.size();
    ++next;
    const bool is_last = next == entries_.end() || next->first > up_to;
    if (bytes < kBytesAtOnce && !is_last) continue;
    const std::string problem = ExecuteSome(some, replies, state);
    if (!problem.empty()) return problem;
    some = {{}, {}, state.size() / kPieces + 1};
    replies.clear();
    bytes = 0;
  }
  return "";
}

// `state`: that before these commands; afterwards, that after them.
std::string SnapshotAudit::ExecuteSome(const KvExecute& some,
                                       const std::vector<const Reply*>& replies,
                                       std::string& state) {
  const auto executed = Ask(some);
  if (!executed || executed->replies.size() != replies.size()) return Silence();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto reply = DecodeReply(executed->replies[i]);
    if (reply && IsPermitted(*reply, *replies[i])) continue;
    return Differs("a store restored from a snapshot gives another reply to the entry at index " +
                   std::to_string(some.indexes[i]));
  }
  if (executed->snapshot != state) {
    return Differs("the pieces of a snapshot are not the snapshot of the moment in which it began");
  }
  auto now = State();
  if (!now) return Silence();
  state = std::move(*now);
  return "";
}

// Damages `snapshot`. Requires: `state` is that of the fresh process. It may be another one then.
std::string SnapshotAudit::RefuseDamage(const std::string& snapshot, const std::string& state) {
  std::vector<std::string> damaged = {std::string(64, '\xc1'),  // MessagePack has no such byte
                                      "\x07",                   // a number of MessagePack
                                      "12345678"};
  if (!snapshot.empty()) damaged.push_back(snapshot.substr(0, snapshot.size() - 1));
  for (const std::string& each : damaged) {
    const auto reply = Ask(KvRestore{each});
    if (!reply) return Silence();
    if (reply->is_restored) return "Restore accepts bytes that are no snapshot";
    if (const std::string problem = WhyNotRefused(*reply, state); !problem.empty()) return problem;
  }
  return RestoreWithAnotherEnd(snapshot, state);
}

// Only the last byte is wrong. With another one the bytes may be a snapshot, too.
std::string SnapshotAudit::RestoreWithAnotherEnd(std::string snapshot, const std::string& state) {
  if (snapshot.empty()) return "";
  snapshot.back() = '\xc0';  // nil in MessagePack: all can be decoded, and the type is wrong
  const auto reply = Ask(KvRestore{std::move(snapshot)});
  if (!reply) return Silence();
  return reply->is_restored ? "" : WhyNotRefused(*reply, state);
}

// Requires: `reply` is not restored. `state` is that of the fresh process, before and after.
std::string SnapshotAudit::WhyNotRefused(const KvRestoreReply& reply, const std::string& state) {
  if (!reply.is_refused) return "Restore throws no std::runtime_error: " + reply.error;
  const auto now = State();
  if (!now) return Silence();
  return *now == state ? "" : "Restore refuses bytes, and has changed the state";
}

std::optional<std::string> SnapshotAudit::State() {
  auto reply = Ask(KvAudit{});
  if (!reply || !reply->error.empty()) return std::nullopt;
  return std::move(reply->snapshot);
}

template <typename Request>
std::optional<typename Request::Reply> SnapshotAudit::Ask(const Request& request) {
  std::optional<typename Request::Reply> answer;
  client_.Call(kFresh, request, kAtMost,
               [&](const std::optional<typename Request::Reply>& reply) { answer = reply; });
  const Time limit = simulator_.now() + 2 * kAtMost;
  while (client_.outstanding() > 0 && simulator_.StepUntil(limit)) {
  }
  return answer;
}

std::string SnapshotAudit::Silence() const {
  const std::string& death = simulator_.first_death();
  return "a fresh process that restores a snapshot does not answer" +
         (death.empty() ? "" : ": " + death);
}

}  // namespace depfast::kv
