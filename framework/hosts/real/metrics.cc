#include "real/metrics.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

namespace depfast::real {
namespace {

std::int64_t MillisecondsOfCpu() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto milliseconds = [](const timeval& time) {
    return std::int64_t{time.tv_sec} * 1000 + time.tv_usec / 1000;
  };
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

using Json = nlohmann::ordered_json;

void AddNetwork(Json& line, const NetworkCounters& network) {
  line["frames_in"] = network.frames_in.value();
  line["frames_out"] = network.frames_out.value();
  line["client_frames_in"] = network.client_frames_in.value();
  line["client_frames_out"] = network.client_frames_out.value();
  line["bytes_in"] = network.bytes_in.value();
  line["bytes_out"] = network.bytes_out.value();
  line["reads"] = network.reads.value();
  line["writes"] = network.writes.value();
  line["accepted"] = network.accepted.value();
  line["connected"] = network.connected.value();
  line["lost"] = network.lost.value();
  line["malformed"] = network.malformed.value();
  line["dropped_frames"] = network.dropped_frames.value();
  line["released_frames"] = network.released_frames.value();
}

void AddDisk(Json& line, const DiskCounters& disk) {
  line["disk_batches"] = disk.batches.value();
  line["disk_operations"] = disk.operations.value();
  line["disk_writes"] = disk.writes.value();
  line["disk_bytes"] = disk.bytes.value();
  line["disk_syncs"] = disk.syncs.value();
  line["disk_directory_syncs"] = disk.directory_syncs.value();
  line["disk_errors"] = disk.errors.value();
}

}  // namespace

std::string MetricsLine(const MetricsContext& context, const RealHostCounters& counters) {
  Json line;
  line["replica"] = context.replica;
  line["uptime_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(context.uptime).count();
  line["cpu_ms"] = MillisecondsOfCpu();
  line["turns"] = counters.turns.value();
  line["steps"] = counters.steps.value();
  line["observations"] = counters.observations.value();
  AddNetwork(line, counters.network);
  AddDisk(line, counters.disk);
  line["disk_failure"] = context.disk_failure;
  line["held_bytes"] = context.held_bytes;
  auto observed = Json::object();
  if (context.observed != nullptr) {
    for (const auto& [kind, observation] : *context.observed) {
      observed[std::to_string(kind)] = observation.values;
    }
  }
  line["observed"] = std::move(observed);
  return line.dump();
}

}  // namespace depfast::real
