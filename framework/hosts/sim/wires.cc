#include "sim/wires.h"

#include <algorithm>
#include <utility>

#include "faults/retransmission.h"
#include "sim/streams.h"

namespace depfast::sim {
namespace {

using faults::Fault;

}  // namespace

Wires::Wires(const NetModel& model, std::uint64_t seed, const Addresses& addresses,
             const Effects& effects, Agenda& agenda, Observers& observers)
    : model_(model),
      seed_(seed),
      addresses_(addresses),
      effects_(effects),
      agenda_(agenda),
      observers_(observers) {
  Grow();
}

void Wires::Grow() {
  const std::size_t nodes = addresses_.nodes();
  ends_.resize(nodes);
  links_.resize(nodes);
  for (auto& row : links_) row.resize(nodes);
}

void Wires::Tell(FrameStage stage, std::size_t from, std::size_t to, const Bytes& bytes) const {
  observers_.Tell(&Observer::OnFrame, stage, addresses_.IdOf(from), addresses_.IdOf(to),
                  agenda_.now(), bytes);
}

void Wires::Disconnect(std::size_t replica) {
  ends_[replica].connected = false;
  ends_[replica].inbox.Clear();
  for (std::size_t other = 0; other < ends_.size(); ++other) {
    Link& in = links_[other][replica];
    ++in.epoch;
    LoseHeld(other, replica);
    in.in_flight_bytes = 0;
    LoseHeld(replica, other);
  }
}

void Wires::LoseHeld(std::size_t from, std::size_t to) {
  Link& link = links_[from][to];
  for (const HeldFrame& frame : link.held) Tell(FrameStage::kLost, from, to, frame.bytes);
  link.held.clear();
  link.held_bytes = 0;
}

void Wires::Send(std::size_t from, std::size_t to, FrameId id, Bytes bytes) {
  if (to >= ends_.size()) return;
  Tell(FrameStage::kQueued, from, to, bytes);
  if (from == to) {
    ScheduleArrival(from, to, agenda_.now(), bytes);
    return;
  }
  Link& link = links_[from][to];
  link.held_bytes += bytes->size();
  link.held.push_back({id, std::move(bytes)});
  Pump(from, to);
  link.peak_held_bytes = std::max(link.peak_held_bytes, link.held_bytes);
}

void Wires::Release(std::size_t from, std::size_t to, FrameId id) {
  if (to >= ends_.size()) return;
  Link& link = links_[from][to];
  const auto found =
      std::lower_bound(link.held.begin(), link.held.end(), id,
                       [](const HeldFrame& f, FrameId wanted) { return f.id < wanted; });
  if (found == link.held.end() || found->id != id) return;
  Tell(FrameStage::kReleased, from, to, found->bytes);
  link.held_bytes -= found->bytes->size();
  link.held.erase(found);
}

// Puts held frames on the wire as far as the window allows.
void Wires::Pump(std::size_t from, std::size_t to) {
  Link& link = links_[from][to];
  const bool windowed = addresses_.IsReplica(from) && addresses_.IsReplica(to);
  const bool refused = Refuses(to);
  while (!link.held.empty()) {
    const std::size_t size = link.held.front().bytes->size();
    const bool fits = !windowed || link.in_flight_bytes == 0 ||
                      link.in_flight_bytes + size <= model_.window_bytes;
    if (!fits && !refused) return;
    const Bytes bytes = std::move(link.held.front().bytes);
    link.held.pop_front();
    link.held_bytes -= size;
    if (refused) {
      Tell(FrameStage::kLost, from, to, bytes);
    } else {
      Transmit(from, to, bytes);
    }
  }
}

void Wires::Transmit(std::size_t from, std::size_t to, const Bytes& bytes) {
  Link& link = links_[from][to];
  const std::uint64_t number = ++link.frames;
  if (link.jitter == nullptr) {
    link.jitter = std::make_unique<RandomStream>(seed_, from << 32 | to, kLinkStream);
  }
  const Duration latency = model_.latency_jitter.Apply(model_.latency, *link.jitter);
  const auto size = static_cast<std::int64_t>(bytes->size());
  Time& nic_free = ends_[from].nic_free;
  nic_free =
      std::max(nic_free, agenda_.now()) + Duration(size * 1'000'000'000 / model_.bytes_per_second);
  Time arrival = nic_free + latency;
  if (addresses_.IsReplica(from)) arrival += DelayOf(from, to, number, bytes->size());
  arrival = std::max(arrival, link.last_arrival);
  const FrameFate fate = FateOf(from, to, number);
  if (fate.lost) {
    Tell(FrameStage::kLost, from, to, bytes);
    return;
  }
  if (fate.late > Duration::zero()) {
    arrival += fate.late;  // last_arrival stays
  } else {
    link.last_arrival = arrival;
  }
  ScheduleArrival(from, to, arrival, bytes);
  if (fate.twice) ScheduleArrival(from, to, arrival, bytes);
}

// The delay that the sender's faults add to a frame. The draws depend on the frame's number alone:
// frames of other links and other faults do not change them.
Duration Wires::DelayOf(std::size_t from, std::size_t to, std::uint64_t number,
                        std::size_t bytes) const {
  const ReplicaEffects& effects = effects_.of(from);
  const auto stream = [&](StreamOf which) {
    return RandomStream(seed_ ^ RandomStream::Mix(which), from << 32 | to, number);
  };
  Duration delay = effects.extra_delay;
  if (to < effects.link_delay.size()) delay += effects.link_delay[to];
  if (effects.jitter > Duration::zero()) delay += stream(kJitterStream).Below(effects.jitter);
  if (effects.packet_loss_permille > 0) {
    delay +=
        faults::RetransmissionDelay(bytes, effects.packet_loss_permille, stream(kPacketStream));
  }
  return delay;
}

// Every fault has its say before any takes effect, so their order in a plan does not matter.
Wires::FrameFate Wires::FateOf(std::size_t from, std::size_t to, std::uint64_t number) const {
  FrameFate fate;
  if (!addresses_.IsReplica(from) || !addresses_.IsReplica(to)) return fate;
  const std::vector<Duration>& late = effects_.of(from).link_late;
  if (to < late.size()) fate.late = late[to];
  for (const Fault& fault : effects_.of(from).on_frames) {
    if (!Hits(fault, from, to, number)) continue;
    fate.lost = fate.lost || fault.kind == Fault::Kind::kDrop;
    fate.twice = fate.twice || fault.kind == Fault::Kind::kDuplicate;
    if (fault.kind != Fault::Kind::kReorder) continue;
    RandomStream stream(seed_ ^ RandomStream::Mix(kReorderStream), from << 32 | to, number);
    fate.late = std::max(fate.late, stream.Below(faults::kReorderDelayMax));
  }
  return fate;
}

// True with a probability of `amount` per mille. The draw depends on the fault and on the frame's
// number alone: frames of other links and other faults do not change it.
bool Wires::Hits(const Fault& fault, std::size_t from, std::size_t to, std::uint64_t number) const {
  const std::uint64_t start = RandomStream::Mix(static_cast<std::uint64_t>(fault.start.count()));
  const std::uint64_t fault_key = RandomStream::Mix(start + static_cast<std::uint64_t>(fault.kind));
  RandomStream stream(seed_ ^ fault_key, from << 32 | to, number);
  return stream.Below(1000) < static_cast<std::uint64_t>(fault.amount);
}

void Wires::ScheduleArrival(std::size_t from, std::size_t to, Time when, const Bytes& bytes) {
  Tell(FrameStage::kOnWire, from, to, bytes);
  Link& link = links_[from][to];
  link.in_flight_bytes += bytes->size();
  Event& event = agenda_.Push(when, Event::Kind::kArrive, to, link.epoch);
  event.from = static_cast<std::int32_t>(from);
  event.bytes = bytes;
}

Wires::Arrival Wires::Arrive(Event& event) {
  const auto to = static_cast<std::size_t>(event.node);
  const auto from = static_cast<std::size_t>(event.from);
  Link& link = links_[from][to];
  if (event.epoch != link.epoch) {  // the connection broke
    Tell(FrameStage::kLost, from, to, event.bytes);
    return Arrival::kLost;
  }
  const bool to_replica = addresses_.IsReplica(to);
  const bool cut = to_replica && addresses_.IsReplica(from) && effects_.Cuts(from, to);
  const bool lost = cut || Refuses(to);
  Tell(lost ? FrameStage::kLost : FrameStage::kArrived, from, to, event.bytes);
  if (lost || !to_replica) {
    link.in_flight_bytes -= event.bytes->size();
    if (!link.held.empty()) Pump(from, to);
    return lost ? Arrival::kLost : Arrival::kAtClient;
  }
  ends_[to].inbox.Add(from, ends_.size(), {event.epoch, std::move(event.bytes)});
  return Arrival::kUnread;
}

void Wires::Read(std::size_t replica, const CpuModel& cpu, std::vector<FrameArrival>& out) {
  ends_[replica].inbox.Take(cpu.frames_per_connection_max, cpu.frames_per_step_max,
                            [&](std::size_t from, Inbox::Frame frame) {
                              Link& link = links_[from][replica];
                              if (frame.link_epoch == link.epoch)
                                link.in_flight_bytes -= frame.bytes->size();
                              out.push_back({addresses_.IdOf(from), std::move(frame.bytes)});
                              if (!link.held.empty())
                                Pump(from, replica);  // reading opens the window
                            });
}

std::size_t Wires::HeldBytes(std::size_t from) const {
  std::size_t bytes = 0;
  for (const Link& link : links_[from]) bytes += link.held_bytes;
  return bytes;
}

std::size_t Wires::WaitingFrames(std::size_t replica) const {
  std::size_t frames = ends_[replica].inbox.frames();
  for (const Link& link : links_[replica]) frames += link.held.size();
  return frames;
}

std::size_t Wires::PeakHeldBytes(std::size_t from) const {
  std::size_t peak = 0;
  for (std::size_t to = 0; addresses_.IsReplica(to); ++to) {
    peak = std::max(peak, links_[from][to].peak_held_bytes);
  }
  return peak;
}

void Wires::ResetPeaks() {
  for (auto& row : links_) {
    for (Link& link : row) link.peak_held_bytes = link.held_bytes;
  }
}

}  // namespace depfast::sim
