#include "sim/step_cost.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace depfast::sim {
namespace {

// There is no connection to oneself.
std::int64_t ConnectionsWritten(PeerId self, const StepOutput& output) {
  std::vector<PeerId> peers;
  for (const Output& one : output.outputs) {
    const auto* send = std::get_if<SendFrame>(&one);
    if (send != nullptr && send->to != self) peers.push_back(send->to);
  }
  std::sort(peers.begin(), peers.end());
  return std::unique(peers.begin(), peers.end()) - peers.begin();
}

}  // namespace

Duration StepCost(const Profile& profile, PeerId self, const StepInput& input,
                  const StepOutput& output, std::int64_t bursts, const MemoryUse& memory) {
  const CpuModel& cpu = profile.cpu;
  Duration cost = cpu.per_step + cpu.per_burst * bursts;
  // Only calibrated profiles charge for connections, and every step would pay for the count.
  if (cpu.per_write > Duration::zero()) cost += cpu.per_write * ConnectionsWritten(self, output);
  std::int64_t bytes = 0;
  const auto charge = [&](PeerId peer, const Bytes& frame) {
    cost += peer < kFirstClient ? cpu.per_frame : cpu.per_client_frame;
    bytes += static_cast<std::int64_t>(frame->size());
  };
  for (const FrameArrival& frame : input.frames) charge(frame.from, frame.bytes);
  cost += cpu.per_io * static_cast<std::int64_t>(input.completions.size());
  for (const Output& one : output.outputs) {
    if (const auto* send = std::get_if<SendFrame>(&one)) charge(send->to, send->bytes);
    if (const auto* io = std::get_if<IoRequest>(&one)) {
      const auto written = io->data ? static_cast<std::int64_t>(io->data->size()) : 0;
      cost += cpu.per_io + written * cpu.per_io_kib / 1024;
    }
    if (std::holds_alternative<Observation>(one)) cost += cpu.per_observation;
  }
  cost += bytes * cpu.per_kib / 1024;
  const std::int64_t excess = memory.bytes - memory.limit;
  if (excess > 0) cost += cost * profile.memory.paging_factor * excess / memory.limit;
  return cost;
}

}  // namespace depfast::sim
