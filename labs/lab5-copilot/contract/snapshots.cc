#include "snapshots.h"

#include <algorithm>
#include <utility>

#include "copilot_observations.h"

namespace depfast::copilot {
namespace {

// The logs are cut when memory and disk hold so many bytes of commands, or a part of that: see
// DrawLimit. Each lane keeps about the second figure, and the next cut comes after as many more.
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

Snapshots::Snapshots(Runtime& runtime, StateMachine& machine, Progress& progress, Journal& journal,
                     const Pilots& pilots, Decisions& decisions)
    : runtime_(runtime),
      machine_(machine),
      progress_(progress),
      journal_(journal),
      pilots_(pilots),
      decisions_(decisions) {}

void Snapshots::Serve() {
  DrawLimit();
  runtime_.rpc().HandleInline<FetchSnapshot>(
      [this](const auto& request, const auto& responder) { responder.Send(PartOf(request)); });
}

// ---- a snapshot's way ----

bool Snapshots::FetchFrom(PeerId peer, Duration patience) {
  FetchSnapshot request;
  std::string bytes;
  do {
    request.offset = bytes.size();
    const auto call = runtime_.rpc().Call(peer, request);
    const Outcome outcome = call->Wait(patience);
    runtime_.rpc().Release(*call);
    if (outcome != Outcome::kReady || call->reply().data.empty()) return false;
    const FetchSnapshotReply& reply = call->reply();
    if (!(reply.id == request.id)) bytes.clear();
    request.id = reply.id;
    bytes += reply.data;
  } while (bytes.size() < request.id.bytes);
  const auto snapshot = DecodeSnapshot(bytes);
  if (!snapshot) return false;
  const PerLane& ran = snapshot->id.ran;
  if (ran[0] < progress_.entries[0] || ran[1] < progress_.entries[1]) return false;
  Restore(*snapshot);
  for (const Lane lane : kLanes) {
    decisions_.log(lane).Reset(At(snapshot->base, lane), At(snapshot->latest_gone, lane));
  }
  WriteJournalAnew(*snapshot);
  decisions_.LetRunLater();
  return true;
}

FetchSnapshotReply Snapshots::PartOf(const FetchSnapshot& request) {
  std::uint64_t offset = request.offset;
  if (served_.empty() || !(request.id == served_id_)) {
    const StoredSnapshot snapshot = Make();
    served_ = EncodeSnapshot(snapshot);
    served_id_ = snapshot.id;
    served_id_.bytes = served_.size();
    offset = 0;
  }
  if (offset > served_.size()) return {};
  return {served_id_, served_.substr(offset, kReplyBytesMax)};
}

StoredSnapshot Snapshots::Make() const {
  StoredSnapshot snapshot{
      {progress_.commands, progress_.entries, 0}, CutBefore(progress_.entries), {}, {}};
  for (const Lane lane : kLanes) {
    const LaneLog& log = decisions_.log(lane);
    EntryIndex latest = At(snapshot.base, lane);
    while (latest > log.base() && log.RecordOf(latest).no_op) --latest;
    At(snapshot.latest_gone, lane) = latest > log.base() ? latest : log.latest_gone();
  }
  snapshot.data = PackState({progress_.memory.Encode(), machine_.Snapshot()});
  return snapshot;
}

void Snapshots::Restore(const StoredSnapshot& snapshot) {
  const auto [memory, state] = UnpackState(snapshot.data);
  machine_.Restore(state);
  progress_.memory.Decode(memory);
  progress_.commands = snapshot.id.commands;
  progress_.entries = snapshot.id.ran;
  ObserveRestore(runtime_, snapshot.id);
}

void Snapshots::WriteJournalAnew(const StoredSnapshot& snapshot) {
  journal_.Replace(snapshot, {pilots_.view(Lane::kPilot), pilots_.view(Lane::kCopilot)},
                   decisions_.logs());
}

// ---- cuts ----

void Snapshots::CompactIfLarge() {
  const auto in_memory = [this] {
    return decisions_.log(Lane::kPilot).bytes() + decisions_.log(Lane::kCopilot).bytes();
  };
  if (in_memory() + journal_.bytes() <= compact_above_) return;
  const PerLane retained{BeforeRetained(Lane::kPilot), BeforeRetained(Lane::kCopilot)};
  PerLane up_to = retained;
  for (const Lane lane : kLanes) {
    // A slow pilot has few entries, and the other lane's depend on them: that lane could not be cut
    // if they stayed.
    const LaneLog& other = decisions_.log(Other(lane));
    const EntryIndex index = At(retained, Other(lane));
    if (index <= other.base()) continue;
    At(up_to, lane) = std::max(At(up_to, lane), other.RecordOf(index).dependency);
  }
  Truncate(up_to);
  // What stays is written again: only if it is less than what goes.
  const std::size_t stays = in_memory();
  if (journal_.bytes() > 2 * stays) WriteJournalAnew(Make());
  DrawLimit();
  compact_above_ = std::max(compact_above_, stays + journal_.bytes() + kRetainedBytes);
}

// Each replica at a moment of its own: a disk that writes a snapshot delays votes.
void Snapshots::DrawLimit() {
  constexpr std::int64_t kMost = kCompactAboveBytes;
  compact_above_ = static_cast<std::size_t>(runtime_.RandomBetween(kMost / 2, kMost));
}

// The entry before those that stay for replicas that are a little behind.
EntryIndex Snapshots::BeforeRetained(Lane lane) const {
  const LaneLog& log = decisions_.log(lane);
  std::size_t kept = 0;
  EntryIndex index = At(progress_.entries, lane);
  for (; index > log.base() && kept < kRetainedBytes; --index) {
    kept += SizeOf(log.BodyOf(index).commands);
  }
  return index;
}

void Snapshots::Truncate(const PerLane& up_to) {
  const PerLane cut = CutBefore(up_to);
  for (const Lane lane : kLanes) {
    LaneLog& log = decisions_.log(lane);
    if (At(cut, lane) > log.base()) log.TruncateUpTo(At(cut, lane));
  }
}

// The latest cut that is not behind `up_to`: no entry before it depends on one behind it. So what
// is thrown away comes before all that is kept.
PerLane Snapshots::CutBefore(PerLane up_to) const {
  for (const Lane lane : kLanes) {
    const EntryIndex decided = decisions_.log(lane).decided();
    At(up_to, lane) = std::min({At(up_to, lane), At(progress_.entries, lane), decided});
  }
  PerLane before;
  do {
    before = up_to;
    for (const Lane lane : kLanes) {
      const LaneLog& log = decisions_.log(lane);
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
