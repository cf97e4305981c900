// Replicas that have fallen behind, and logs that are cut: see copilot_base.h.
#include <algorithm>
#include <tuple>
#include <utility>

#include "copilot_base.h"

namespace depfast::copilot {
namespace {

// An answer to Learn takes at most so long, or another replica is asked.
constexpr Duration kLearnPatience = 1s;
constexpr Duration kLearnPause = 50ms;

// The log is cut when memory and disk hold so many bytes of commands, or a part of that: see
// DrawCompaction. Each lane keeps about the second figure, and the next cut comes after as many
// more.
constexpr std::size_t kCompactAboveBytes = std::size_t{8} << 20;
constexpr std::size_t kRetainedBytes = std::size_t{1} << 20;

// A snapshot's data: the memory of commands, and the state machine's state.
using State = std::pair<std::string, std::string>;

std::string PackState(const State& state) {
  msgpack::sbuffer buffer;
  msgpack::pack(buffer, state);
  return {buffer.data(), buffer.size()};
}

State UnpackState(const std::string& data) {
  return msgpack::unpack(data.data(), data.size()).get().as<State>();
}

}  // namespace

void CopilotBase::Lacks(Lane lane, EntryIndex up_to, PeerId peer) {
  At(learn_up_to_, lane) = std::max(At(learn_up_to_, lane), up_to);
  learn_from_ = peer;
  if (!std::exchange(learning_, true)) runtime_.Spawn("learn", [this] { LearnLoop(); });
}

// Asks at its own pace: a slow replica is never sent more than it has asked for.
void CopilotBase::LearnLoop() {
  runtime_.set_dependency({});  // a background task: no client asked for it
  for (;;) {
    const auto lacking = std::ranges::find_if(
        kLanes, [this](Lane lane) { return Log(lane).decided() < At(learn_up_to_, lane); });
    if (lacking == std::end(kLanes)) break;
    const PeerId asked = learn_from_;
    const Learned learned = LearnSome(asked, *lacking);
    if (learned == Learned::kSome) continue;
    if (learned == Learned::kAreGone && FetchWholeSnapshot(asked)) continue;
    runtime_.Sleep(kLearnPause);
    // Another peer may have told us meanwhile that it has more.
    while (learn_from_ == asked || learn_from_ == runtime_.self()) {
      learn_from_ = (learn_from_ + 1) % runtime_.replicas();
    }
  }
  learning_ = false;
}

CopilotBase::Learned CopilotBase::LearnSome(PeerId peer, Lane lane) {
  const EntryIndex first = Log(lane).decided() + 1;
  const auto call = runtime_.rpc().Call(peer, Learn{lane, first});
  const Outcome outcome = call->Wait(kLearnPatience);
  runtime_.rpc().Release(*call);
  if (outcome != Outcome::kReady) return Learned::kNothing;
  const LearnReply& reply = call->reply();
  if (reply.base >= first) return Learned::kAreGone;
  EntryIndex index = first;
  for (const Decision& decision : reply.decisions) {
    Reveal(lane, index);
    if (!Log(lane).IsDecided(index)) {
      if (!decision.no_op) LearnCommands(lane, index, decision.origin, decision.commands);
      Decide(lane, index, {decision.no_op, decision.dependency});
    }
    ++index;
  }
  return reply.decisions.empty() ? Learned::kNothing : Learned::kSome;
}

LearnReply CopilotBase::DecisionsFrom(Lane lane, EntryIndex first) {
  LaneLog& log = Log(lane);
  LearnReply reply{log.base(), {}};
  std::size_t bytes = 0;
  for (EntryIndex index = first; index > log.base() && index <= log.decided(); ++index) {
    if (log.IsHidden(index)) break;
    const Record record = log.RecordOf(index);
    const LaneLog::Body& body = log.BodyOf(index);
    Decision decision{record.no_op, record.dependency, body.origin.value_or(0), {}};
    if (!record.no_op) decision.commands = body.commands;
    bytes += SizeOf(decision.commands);
    reply.decisions.push_back(std::move(decision));
    if (bytes >= kReplyBytesMax) break;
  }
  return reply;
}

bool CopilotBase::FetchWholeSnapshot(PeerId peer) {
  FetchSnapshot request;
  std::string bytes;
  do {
    request.offset = bytes.size();
    const auto call = runtime_.rpc().Call(peer, request);
    const Outcome outcome = call->Wait(kLearnPatience);
    runtime_.rpc().Release(*call);
    if (outcome != Outcome::kReady || call->reply().data.empty()) return false;
    const FetchSnapshotReply& reply = call->reply();
    if (!(reply.id == request.id)) bytes.clear();
    request.id = reply.id;
    bytes += reply.data;
  } while (bytes.size() < request.id.bytes);
  const auto snapshot = DecodeSnapshot(bytes);
  if (!snapshot) return false;
  if (snapshot->id.ran[0] < ran_[0] || snapshot->id.ran[1] < ran_[1]) return false;
  Restore(*snapshot);
  for (const Lane lane : kLanes) {
    Log(lane).Reset(At(snapshot->base, lane), At(snapshot->latest_gone, lane));
  }
  journal_.Replace(*snapshot, {pilots_.view(Lane::kPilot), pilots_.view(Lane::kCopilot)}, logs_);
  LetRunLater();
  return true;
}

FetchSnapshotReply CopilotBase::PartOfSnapshot(const FetchSnapshot& request) {
  std::uint64_t offset = request.offset;
  if (served_.empty() || !(request.id == served_id_)) {
    StoredSnapshot snapshot = MakeSnapshot();
    served_ = EncodeSnapshot(snapshot);
    served_id_ = snapshot.id;
    served_id_.bytes = served_.size();
    offset = 0;
  }
  if (offset > served_.size()) return {};
  return {served_id_, served_.substr(offset, kReplyBytesMax)};
}

StoredSnapshot CopilotBase::MakeSnapshot() {
  StoredSnapshot snapshot{{commands_run_, ran_, 0}, CutBefore(ran_), {}, {}};
  for (const Lane lane : kLanes) {
    EntryIndex latest = At(snapshot.base, lane);
    while (latest > Log(lane).base() && Log(lane).RecordOf(latest).no_op) --latest;
    At(snapshot.latest_gone, lane) = latest > Log(lane).base() ? latest : Log(lane).latest_gone();
  }
  snapshot.data = PackState({memory_.Encode(), machine_.Snapshot()});
  return snapshot;
}

void CopilotBase::Restore(const StoredSnapshot& snapshot) {
  const auto [memory, state] = UnpackState(snapshot.data);
  machine_.Restore(state);
  memory_.Decode(memory);
  commands_run_ = snapshot.id.commands;
  ran_ = snapshot.id.ran;
  ObserveRestore(runtime_, snapshot.id);
}

void CopilotBase::CompactIfLarge() {
  const std::size_t bytes = logs_[0].bytes() + logs_[1].bytes() + journal_.bytes();
  if (bytes <= compact_above_) return;
  const PerLane retained{BeforeRetained(Lane::kPilot), BeforeRetained(Lane::kCopilot)};
  PerLane up_to = retained;
  for (const Lane lane : kLanes) {
    // A pilot that yields has few entries, and the other lane's entries depend on them: that lane
    // could not be cut if they stayed.
    const EntryIndex index = At(retained, Other(lane));
    if (index <= Log(Other(lane)).base()) continue;
    At(up_to, lane) = std::max(At(up_to, lane), Log(Other(lane)).RecordOf(index).dependency);
  }
  Truncate(up_to);
  // What stays is written again: only if it is less than what goes.
  const std::size_t stays = logs_[0].bytes() + logs_[1].bytes();
  if (journal_.bytes() > 2 * stays) {
    journal_.Replace(MakeSnapshot(), {pilots_.view(Lane::kPilot), pilots_.view(Lane::kCopilot)},
                     logs_);
  }
  DrawCompaction();
  compact_above_ = std::max(compact_above_, stays + journal_.bytes() + kRetainedBytes);
}

// Each replica at a moment of its own: a disk that writes a snapshot delays votes.
void CopilotBase::DrawCompaction() {
  constexpr std::int64_t kMost = kCompactAboveBytes;
  compact_above_ = static_cast<std::size_t>(runtime_.RandomBetween(kMost / 2, kMost));
}

// The entry before those that stay for replicas that are a little behind.
EntryIndex CopilotBase::BeforeRetained(Lane lane) {
  std::size_t kept = 0;
  EntryIndex index = At(ran_, lane);
  for (; index > Log(lane).base() && kept < kRetainedBytes; --index) {
    kept += SizeOf(Log(lane).BodyOf(index).commands);
  }
  return index;
}

void CopilotBase::Truncate(const PerLane& up_to) {
  const PerLane cut = CutBefore(up_to);
  for (const Lane lane : kLanes) {
    if (At(cut, lane) > Log(lane).base()) Log(lane).TruncateUpTo(At(cut, lane));
  }
}

// The latest cut that is not behind `up_to`: no entry before it depends on one behind it. So what
// is thrown away comes before all that is kept.
PerLane CopilotBase::CutBefore(PerLane up_to) const {
  for (const Lane lane : kLanes) {
    At(up_to, lane) = std::min({At(up_to, lane), At(ran_, lane), Log(lane).decided()});
  }
  PerLane before;
  do {
    before = up_to;
    for (const Lane lane : kLanes) {
      EntryIndex index = Log(lane).base();
      while (index < At(up_to, lane) &&
             Log(lane).RecordOf(index + 1).dependency <= At(up_to, Other(lane))) {
        ++index;
      }
      At(up_to, lane) = index;
    }
  } while (up_to != before);
  return up_to;
}

}  // namespace depfast::copilot
