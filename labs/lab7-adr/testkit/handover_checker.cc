#include "handover_checker.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "depfast/host/frame.h"
#include "frame_bodies.h"
#include "log_names.h"
#include "planted_health.h"

namespace depfast::adr {
namespace {

// After a fault, or a time in which a replica finds itself slow, its messages may still leave.
constexpr Duration kExcused = 2s;
// From a licence to the vote requests of its campaign, with a disk that is not slow.
constexpr Duration kObeyedWithin = raft::kElectionTimeoutMin;
// A rest may be counted from the begin of a drain, or from its message.
constexpr Duration kRestSlack = raft::kDrainMax + 100ms;

struct Words {
  const char* name;
  const char* rule;
  bool is_safety;
};

constexpr std::array kWords = std::to_array<Words>({
    {"a successor has caught up", "H1", true},
    {"a healthy leader stays", "H1", false},
    {"a rest between hand-overs", "H5", false},
});

const Words& Of(HandoverInvariant invariant) { return kWords[static_cast<std::size_t>(invariant)]; }

// The rules of elections to which a licence is the exception.
bool IsOfLicence(raft::Invariant invariant) {
  return invariant == raft::Invariant::kTermsBeginByCampaign ||
         invariant == raft::Invariant::kCampaignHasPreVotes ||
         invariant == raft::Invariant::kElectionTimeoutPassed;
}

constexpr const char* kLicenceRule = "H4 of lab 7's handout, else rule 2 of lab 2's";

std::string Seconds(Duration duration) { return std::to_string(duration / 1ms) + " ms"; }

}  // namespace

bool IsSafety(HandoverInvariant invariant) { return Of(invariant).is_safety; }
const char* ToString(HandoverInvariant invariant) { return Of(invariant).name; }
std::string HandoutRule(HandoverInvariant invariant) {
  return std::string(Of(invariant).rule) + " of lab 7's handout";
}

HandoverChecker::HandoverChecker(const sim::GroupView& group, testkit::History* history)
    : RaftChecker(group, history, Machine::kOther),
      broken_(history),
      replicas_(static_cast<std::size_t>(group.replicas())) {}

std::string HandoverChecker::FirstViolation() const {
  if (violations().empty()) return broken_.First(/*of_safety=*/false);
  const bool is_of_licence = IsOfLicence(violations().front().invariant);
  return First(/*of_safety=*/false, is_of_licence ? kLicenceRule : "");
}

std::string HandoverChecker::FirstSafetyViolation() const {
  const std::string of_raft = RaftChecker::FirstSafetyViolation();
  return of_raft.empty() ? broken_.First(/*of_safety=*/true) : of_raft;
}

// ---- notifications from the simulator ----

// A licence that comes in a step counts in that step.
void HandoverChecker::OnStep(PeerId replica, const sim::StepInput& input,
                             const sim::StepOutput& output) {
  for (const sim::FrameArrival& arrival : input.frames) {
    std::string error;
    const auto frame = DecodeFrame(*arrival.bytes, error);
    if (frame && frame->header.kind == FrameKind::kRequest) {
      OnReceived(replica, input.now, arrival.from, *frame);
    }
  }
  RaftChecker::OnStep(replica, input, output);
}

void HandoverChecker::OnOutputsLeave(PeerId replica, Time now,
                                     const std::vector<sim::Output>& outputs) {
  RaftChecker::OnOutputsLeave(replica, now, outputs);
  for (const sim::Output& one : outputs) {
    const auto* sent = std::get_if<sim::SendFrame>(&one);
    if (sent == nullptr || sent->to >= kFirstClient) continue;
    std::string error;
    const auto frame = DecodeFrame(*sent->bytes, error);
    if (!frame || frame->header.kind != FrameKind::kRequest) continue;
    const testkit::History::FrameScope scope(history_, sent->bytes);
    VisitBody<raft::TimeoutNow>(
        *frame, [&](const auto& message) { OnSent(replica, sent->to, now, message); });
    VisitBody<raft::RequestVote>(
        *frame, [&](const auto& request) { OnVoteRequest(replica, now, request); });
  }
}

// A restart forgets the planted health and the rest: both are in memory.
void HandoverChecker::OnRestart(PeerId replica, Time now) {
  RaftChecker::OnRestart(replica, now);
  Replica& state = Of(replica);
  state.latest.reset();
  state.licence = 0;
  state.finds_itself_slow = false;
}

// A fault of all replicas is their world: it excuses no hand-over.
void HandoverChecker::OnFaultBegins(Time now, const faults::Fault& fault) {
  AddToFaults(now, fault, 1);
}

// Its end changes what the others measure of the replica, too: messages that they share, the load.
void HandoverChecker::OnFaultEnds(Time now, const faults::Fault& fault) {
  AddToFaults(now, fault, -1);
  for (Replica& each : replicas_) each.excused_until = now + kExcused;
}

void HandoverChecker::AddToFaults(Time now, const faults::Fault& fault, int more) {
  std::set<PeerId> hit(fault.replicas.begin(), fault.replicas.end());
  hit.insert(fault.receivers.begin(), fault.receivers.end());
  // The other side of a partition is as far away.
  const bool hits_all = fault.kind == faults::Fault::Kind::kPartition;
  if (!hits_all && hit.size() == replicas_.size()) return;
  for (PeerId replica = 0; replica < group_.replicas(); ++replica) {
    if (!hits_all && !hit.contains(group_.AddressOf(replica))) continue;
    Of(replica).faults += more;
    Of(replica).excused_until = now + kExcused;
  }
}

// ---- messages ----

// A test may speak for a leader, or tell a replica that it is slow. Another replica may not.
void HandoverChecker::OnReceived(PeerId replica, Time now, PeerId from, const DecodedFrame& frame) {
  const bool is_of_test = from >= kFirstClient;
  VisitBody<raft::TimeoutNow>(frame, [&](const auto& message) {
    if (is_of_test || from == message.leader) OnTimeoutNow(replica, now, message);
  });
  VisitBody<PlantHealth>(frame, [&](const auto& planted) {
    if (!is_of_test) return;
    Replica& state = Of(replica);
    if (state.finds_itself_slow) state.excused_until = now + kExcused;
    state.finds_itself_slow = planted.suspicion.who == Suspicion::Who::kSelf;
  });
}

void HandoverChecker::OnTimeoutNow(PeerId replica, Time now, const raft::TimeoutNow& message) {
  if (message.leader == kNobody || elections().LeaderOf(message.term) != message.leader) return;
  if (message.term < claims(replica).term) return;
  const std::uint64_t term = message.term + 1;
  AllowCampaign(replica, term);
  if (Of(replica).licence >= term) return;
  Of(replica).licence = term;
  Of(replica).licence_came = now;
}

// A replica that ignores its licence may campaign in that term after an election timeout.
void HandoverChecker::OnVoteRequest(PeerId replica, Time now, const raft::RequestVote& request) {
  Replica& state = Of(replica);
  if (request.pre_vote || request.term != state.licence || state.licence_came < now - kObeyedWithin)
    return;
  if (std::exchange(state.obeyed, request.term) == request.term) return;
  NoteHandover(state, state.licence_came);
}

void HandoverChecker::OnSent(PeerId from, PeerId to, Time now, const raft::TimeoutNow& message) {
  if (IsRepeated(from, to, now, message.term)) return;
  sent_.push_back({from, to, message.term, now, message.last_index});
  Note(Name(from) + " hands over to " + Name(to));
  CheckHeir(from, to, now);
  CheckLeader(from, now);
  CheckRest(from, now);
  NoteHandover(Of(from), now);
}

bool HandoverChecker::IsRepeated(PeerId from, PeerId to, Time now, std::uint64_t term) const {
  return std::ranges::any_of(sent_, [&](const SentHandover& each) {
    return each.from == from && each.to == to && each.term == term &&
           now - each.at <= raft::kTakeOverMax;
  });
}

// ---- invariants ----

// A leader that others have deposed knows what it has committed, and no more.
void HandoverChecker::CheckHeir(PeerId from, PeerId to, Time now) {
  const std::uint64_t committed = Leader() == from ? CommittedUpTo() : claims(from).commit_index;
  if (StoredUpTo(to) >= committed) return;
  broken_.Add(now, HandoverInvariant::kCaughtUp,
              Name(from) + " hands over to " + Name(to) + ", whose disk ends at index " +
                  std::to_string(StoredUpTo(to)) + " while index " + std::to_string(committed) +
                  " is committed");
}

void HandoverChecker::CheckLeader(PeerId from, Time now) {
  const Replica& leader = Of(from);
  if (leader.finds_itself_slow || leader.faults > 0 || now <= leader.excused_until) return;
  broken_.Add(now, HandoverInvariant::kHealthyStays,
              Name(from) + " hands over, and neither has a fault nor finds itself slow");
}

void HandoverChecker::CheckRest(PeerId from, Time now) {
  const Replica& leader = Of(from);
  if (!leader.latest || now - *leader.latest + kRestSlack >= leader.rest) return;
  broken_.Add(now, HandoverInvariant::kRest,
              Name(from) + " hands over " + Seconds(now - *leader.latest) +
                  " after the hand-over before, and rests for " + Seconds(leader.rest));
}

void HandoverChecker::NoteHandover(Replica& replica, Time now) {
  const bool is_first = !replica.latest || now - *replica.latest >= raft::kRestForgotten;
  replica.rest = is_first ? raft::kRestMin : std::min(2 * replica.rest, raft::kRestMax);
  replica.latest = now;
}

}  // namespace depfast::adr
