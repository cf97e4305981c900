#include "testkit/world_state.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "depfast/host/frame.h"
#include "depfast/host/random.h"
#include "faults/text.h"

namespace depfast::testkit {
namespace {

class Mixer {
 public:
  void Add(std::uint64_t value) { hash_ = RandomStream::Mix(hash_ + kGamma + value); }
  void Add(std::string_view bytes) { Add(XXH3_64bits(bytes.data(), bytes.size())); }
  std::uint64_t hash() const { return hash_; }

 private:
  static constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;
  std::uint64_t hash_ = 0;
};

// Without the number of the call, which grows with time.
std::uint64_t HashOf(const Bytes& bytes) {
  Mixer mixer;
  std::string error;
  const auto frame = DecodeFrame(*bytes, error);
  if (frame) {
    mixer.Add(static_cast<std::uint64_t>(frame->header.kind));
    mixer.Add(frame->header.method);
  }
  mixer.Add(frame ? frame->body : std::string_view(*bytes));
  return mixer.hash();
}

void Add(const IoRequest& request, Mixer& mixer) {
  mixer.Add(static_cast<std::uint64_t>(request.kind));
  mixer.Add(request.file);
  mixer.Add(request.to);
  mixer.Add(request.offset);
  mixer.Add(request.length);
  if (request.data) mixer.Add(*request.data);
}

void Add(const sim::SimDisk& disk, Mixer& mixer) {
  for (const auto& [name, file] : disk.files()) {
    mixer.Add(name);
    mixer.Add(file.data);
    mixer.Add(file.durable_bytes);
  }
  for (const auto* requests : {&disk.under_way(), &disk.waiting()}) {
    mixer.Add(requests->size());
    for (const IoRequest& request : *requests) Add(request, mixer);
  }
}

std::uint64_t HashOf(const std::vector<sim::Output>& outputs) {
  Mixer mixer;
  for (const sim::Output& output : outputs) {
    if (const auto* send = std::get_if<sim::SendFrame>(&output)) {
      mixer.Add(static_cast<std::uint64_t>(send->to));
      mixer.Add(HashOf(send->bytes));
    } else if (const auto* io = std::get_if<IoRequest>(&output)) {
      Add(*io, mixer);
    }
  }
  return mixer.hash();
}

// Removes the first `hash`. Returns whether there was one.
bool Take(std::deque<std::uint64_t>& hashes, std::uint64_t hash) {
  const auto found = std::find(hashes.begin(), hashes.end(), hash);
  if (found == hashes.end()) return false;
  hashes.erase(found);
  return true;
}

void AddFrames(const std::map<std::pair<PeerId, PeerId>, std::deque<std::uint64_t>>& frames,
               Mixer& mixer) {
  for (const auto& [way, hashes] : frames) {
    if (hashes.empty()) continue;
    mixer.Add(static_cast<std::uint64_t>(way.first));
    mixer.Add(static_cast<std::uint64_t>(way.second));
    for (const std::uint64_t hash : hashes) mixer.Add(hash);
  }
}

}  // namespace

WorldState::WorldState(sim::Simulator& simulator)
    : simulator_(simulator), replicas_(static_cast<std::size_t>(simulator.replicas())) {
  simulator.AddObserver(this);
}

std::uint64_t WorldState::Hash() const {
  Mixer mixer;
  for (PeerId id = 0; id < simulator_.replicas(); ++id) {
    const Replica& replica = replicas_[static_cast<std::size_t>(id)];
    mixer.Add(simulator_.IsUp(id) ? 1 : 0);
    for (const auto& [kind, claim] : replica.claims) mixer.Add(claim);
    mixer.Add(replica.leaving);
    Add(simulator_.disk(id), mixer);
  }
  AddFrames(on_the_way_, mixer);
  mixer.Add(1);
  AddFrames(unread_, mixer);
  for (const faults::Fault& fault : under_way_) mixer.Add(faults::Print(fault));
  return mixer.hash();
}

void WorldState::OnStep(PeerId replica, const sim::StepInput& input,
                        const sim::StepOutput& output) {
  for (const sim::FrameArrival& arrival : input.frames) {
    Take(unread_[{arrival.from, replica}], HashOf(arrival.bytes));
  }
  for (const sim::Output& one : output.outputs) {
    const auto* seen = std::get_if<Observation>(&one);
    if (seen == nullptr) continue;
    Mixer mixer;
    mixer.Add(seen->kind);
    for (const std::uint64_t value : seen->values) mixer.Add(value);
    At(replica).claims[seen->kind] = mixer.hash();
  }
  At(replica).leaving = HashOf(output.outputs);
}

void WorldState::OnOutputsLeave(PeerId replica, Time, const std::vector<sim::Output>&) {
  At(replica).leaving = 0;
}

void WorldState::OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time, const Bytes& frame) {
  const std::uint64_t hash = HashOf(frame);
  switch (stage) {
    case sim::FrameStage::kQueued:
      on_the_way_[{from, to}].push_back(hash);
      break;
    case sim::FrameStage::kArrived:
      Take(on_the_way_[{from, to}], hash);
      if (to < kFirstClient) unread_[{from, to}].push_back(hash);
      break;
    case sim::FrameStage::kReleased:
    case sim::FrameStage::kLost:
      Take(on_the_way_[{from, to}], hash);
      break;
    case sim::FrameStage::kOnWire:
      break;
  }
}

void WorldState::OnDeath(PeerId replica, Time, const std::string&) {
  At(replica) = {};
  for (auto& [way, hashes] : unread_) {
    if (way.second == replica) hashes.clear();
  }
}

void WorldState::OnFaultBegins(Time, const faults::Fault& fault) {
  faults::Fault timeless = fault;
  timeless.start = Time(0);
  under_way_.push_back(timeless);
}

void WorldState::OnFaultEnds(Time, const faults::Fault& fault) {
  faults::Fault timeless = fault;
  timeless.start = Time(0);
  const auto found = std::find(under_way_.begin(), under_way_.end(), timeless);
  if (found != under_way_.end()) under_way_.erase(found);
}

}  // namespace depfast::testkit
