// Metrics: a real replica's counters, and their encoding as one line of JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "depfast/host/host.h"
#include "real/counters.h"

namespace depfast::real {

struct RealHostCounters {
  NetworkCounters network;
  DiskCounters disk;
  Counter turns;  // of the event loop
  Counter steps;  // turns in which the runtime ran
  Counter observations;
};

// The contents of a line apart from the counters.
struct MetricsContext {
  PeerId replica = 0;
  Duration uptime{0};
  std::span<const std::size_t> held_bytes;                         // by replica
  const std::map<std::uint32_t, Observation>* observed = nullptr;  // the latest of each kind
  std::string disk_failure = {};  // why the replica is out of service; empty while it serves
};

// One JSON object without a line break. Counters are totals since the start, so that a reader can
// compute rates from any two lines. `cpu_ms` is the CPU time of the whole process. `observed` holds
// the values of the latest observation of each kind; the lab defines their meaning. `disk_failure`
// is a text, empty while the replica is in service.
std::string MetricsLine(const MetricsContext& context, const RealHostCounters& counters);

}  // namespace depfast::real
