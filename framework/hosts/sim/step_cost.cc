#include "sim/step_cost.h"

#include <variant>

namespace depfast::sim {

Duration StepCost(const Profile& profile, const StepInput& input, const StepOutput& output,
                  const MemoryUse& memory) {
  const CpuModel& cpu = profile.cpu;
  Duration cost = cpu.per_step;
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
