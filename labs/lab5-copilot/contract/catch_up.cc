#include "catch_up.h"

#include <algorithm>

#include "copilot_observations.h"
#include "depfast/host/codec.h"

namespace depfast::copilot {
namespace {

// An answer to a question about the past takes at most this long, or another replica is asked.
constexpr Duration kLearnPatience = 1s;
constexpr Duration kPause = 50ms;  // after a replica that knew nothing more
// The most of decisions, or of a snapshot, in a reply.
constexpr std::size_t kReplyBytesMax = std::size_t{64} << 10;
// The logs are cut when memory and disk hold this many bytes of commands, or a part of that: see
// DrawLimit. Each lane keeps about the second figure, and the next cut comes after as many more.
constexpr std::size_t kCompactAboveBytes = std::size_t{8} << 20;
constexpr std::size_t kRetainedBytes = std::size_t{1} << 20;

// A snapshot's data: the memory of commands, and the state machine's state.
using State = std::pair<std::string, std::string>;

}  // namespace

void CatchUp::Serve() {
  runtime_.rpc().HandleInline<Learn>([this](const auto& request, const auto& responder) {
    responder.Send(DecisionsFrom(request));
  });
  runtime_.rpc().HandleInline<FetchSnapshot>(
      [this](const auto& request, const auto& responder) { responder.Send(PartOf(request)); });
  DrawLimit();
}

// ---- missed decisions ----

void CatchUp::Lacks(Lane lane, EntryIndex up_to, PeerId peer) {
  At(up_to_, lane) = std::max(At(up_to_, lane), up_to);
  peer_ = peer;
  if (!std::exchange(is_learning_, true)) runtime_.Spawn("learn", [this] { LearnLoop(); });
}

void CatchUp::LearnLoop() {
  runtime_.set_dependency({});  // a background task: no client asked for it
  for (;;) {
    const auto lacking = std::ranges::find_if(
        kLanes, [this](Lane lane) { return lanes_.log(lane).decided() < At(up_to_, lane); });
    if (lacking == std::end(kLanes)) break;
    const PeerId asked = peer_;
    if (LearnFrom(asked, *lacking)) continue;
    runtime_.Sleep(kPause);
    // Another peer may have told us meanwhile that it has more.
    while (peer_ == asked || peer_ == runtime_.self()) peer_ = (peer_ + 1) % runtime_.replicas();
  }
  is_learning_ = false;
}

// Returns whether the peer knew more. One that has thrown its decisions away has a snapshot.
bool CatchUp::LearnFrom(PeerId peer, Lane lane) {
  EntryIndex next = lanes_.log(lane).decided() + 1;
  const auto call = runtime_.rpc().Call(peer, Learn{lane, next});
  const Outcome outcome = call->Wait(kLearnPatience);
  runtime_.rpc().Release(*call);
  if (outcome != Outcome::kReady) return false;
  const LearnReply& reply = call->reply();
  if (reply.base >= next) return FetchSnapshotFrom(peer);
  for (const Decided& each : reply.decisions) lanes_.Decide(lane, next++, each);
  return !reply.decisions.empty();
}

LearnReply CatchUp::DecisionsFrom(const Learn& request) const {
  const LaneLog& log = lanes_.log(request.lane);
  LearnReply reply{log.base(), {}};
  std::size_t bytes = 0;
  for (EntryIndex index = request.first;
       index > log.base() && index <= log.decided() && bytes < kReplyBytesMax; ++index) {
    const Record record = log.RecordOf(index);
    const auto& body = log.BodyOf(index);
    reply.decisions.push_back({{record.no_op, record.dependency}, 0, body.origin.value_or(0), {}});
    if (!record.no_op) reply.decisions.back().commands = body.commands;
    bytes += SizeOf(reply.decisions.back().commands);
  }
  return reply;
}

// ---- a snapshot's way ----

bool CatchUp::FetchSnapshotFrom(PeerId peer) {
  FetchSnapshot request;
  std::string bytes;
  do {
    request.offset = bytes.size();
    const auto call = runtime_.rpc().Call(peer, request);
    const Outcome outcome = call->Wait(kLearnPatience);
    runtime_.rpc().Release(*call);
    if (outcome != Outcome::kReady || call->reply().data.empty()) return false;
    const FetchSnapshotReply& reply = call->reply();
    if (reply.id != request.id) bytes.clear();
    request.id = reply.id;
    bytes += reply.data;
  } while (bytes.size() < request.id.bytes);
  const auto snapshot = DecodeSnapshot(bytes);
  if (!snapshot) return false;
  const PerLane& ran = snapshot->id.ran;
  const PerLane& ours = lanes_.progress().entries;
  if (ran[0] < ours[0] || ran[1] < ours[1]) return false;
  Restore(*snapshot);
  for (const Lane lane : kLanes) {
    lanes_.log(lane).Reset(At(snapshot->base, lane), At(snapshot->latest_gone, lane));
  }
  lanes_.journal().Replace(*snapshot, lanes_.logs());
  lanes_.LetRunLater();
  return true;
}

FetchSnapshotReply CatchUp::PartOf(const FetchSnapshot& request) {
  std::uint64_t offset = request.offset;
  if (served_.empty() || request.id != served_id_) {
    const StoredSnapshot snapshot = MakeSnapshot();
    served_ = EncodeSnapshot(snapshot);
    served_id_ = snapshot.id;
    served_id_.bytes = served_.size();
    offset = 0;
  }
  if (offset > served_.size()) return {};
  return {served_id_, served_.substr(offset, kReplyBytesMax)};
}

StoredSnapshot CatchUp::MakeSnapshot() const {
  const Progress& progress = lanes_.progress();
  const PerLane cut = CutBefore(progress.entries);
  msgpack::sbuffer data;
  msgpack::pack(data, State(progress.memory.Encode(), machine_.Snapshot()));
  return {
      {progress.commands, progress.entries, 0},
      cut,
      {lanes_.log(Lane::kPilot).LatestUpTo(cut[0]), lanes_.log(Lane::kCopilot).LatestUpTo(cut[1])},
      {data.data(), data.size()}};
}

void CatchUp::Restore(const StoredSnapshot& snapshot) {
  const auto& [commands, ran, bytes] = snapshot.id;
  const auto data = msgpack::unpack(snapshot.data.data(), snapshot.data.size());
  const auto [memory, state] = data.get().as<State>();
  machine_.Restore(state);
  lanes_.progress() = {ran, commands, CommandMemory(memory)};
  runtime_.Observe({kRestoreObservation, {commands, ran[0], ran[1]}});
}

// ---- cuts ----

void CatchUp::CompactIfLarge() {
  const auto& [pilots, copilots] = lanes_.logs();
  const auto in_memory = [&] { return pilots.bytes() + copilots.bytes(); };
  if (in_memory() + lanes_.journal().bytes() <= compact_above_) return;
  const PerLane retained{BeforeRetained(Lane::kPilot), BeforeRetained(Lane::kCopilot)};
  PerLane up_to = retained;
  for (const Lane lane : kLanes) {
    // A slow pilot has few entries, and the other lane's depend on them: that lane could not be cut
    // if they stayed.
    const LaneLog& other = lanes_.log(Other(lane));
    const EntryIndex index = At(retained, Other(lane));
    if (index <= other.base()) continue;
    At(up_to, lane) = std::max(At(up_to, lane), other.RecordOf(index).dependency);
  }
  Truncate(up_to);
  // The rest is written again: only if it is less than the part that goes.
  const std::size_t rest = in_memory();
  if (lanes_.journal().bytes() > 2 * rest) lanes_.journal().Replace(MakeSnapshot(), lanes_.logs());
  DrawLimit();
  compact_above_ = std::max(compact_above_, rest + lanes_.journal().bytes() + kRetainedBytes);
}

// Each replica at a moment of its own: a disk that writes a snapshot delays votes.
void CatchUp::DrawLimit() {
  constexpr std::int64_t kMost = kCompactAboveBytes;
  compact_above_ = static_cast<std::size_t>(runtime_.RandomBetween(kMost / 2, kMost));
}

// The entry before those that stay for replicas that are a little behind.
EntryIndex CatchUp::BeforeRetained(Lane lane) const {
  const LaneLog& log = lanes_.log(lane);
  std::size_t kept = 0;
  EntryIndex index = At(lanes_.progress().entries, lane);
  for (; index > log.base() && kept < kRetainedBytes; --index) {
    kept += SizeOf(log.BodyOf(index).commands);
  }
  return index;
}

void CatchUp::Truncate(const PerLane& up_to) {
  const PerLane cut = CutBefore(up_to);
  for (const Lane lane : kLanes) {
    LaneLog& log = lanes_.log(lane);
    log.Reset(At(cut, lane), log.LatestUpTo(At(cut, lane)));
  }
}

// The latest cut that is not behind `up_to`: no entry before it depends on one behind it. So
// whatever is thrown away comes before all that is kept.
PerLane CatchUp::CutBefore(PerLane up_to) const {
  for (const Lane lane : kLanes) {
    const EntryIndex ran = At(lanes_.progress().entries, lane);
    At(up_to, lane) = std::min({At(up_to, lane), ran, lanes_.log(lane).decided()});
  }
  PerLane before;
  do {
    before = up_to;
    for (const Lane lane : kLanes) {
      const LaneLog& log = lanes_.log(lane);
      EntryIndex index = log.base();
      while (index < At(up_to, lane) &&
             log.RecordOf(index + 1).dependency <= At(up_to, Other(lane))) {
        ++index;
      }
      At(up_to, lane) = index;
    }
  } while (up_to != before);
  return up_to;
}

}  // namespace depfast::copilot
