#include "real/metrics.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>

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

template <typename Numbers>
std::string Array(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return "[" + text + "]";
}

// Writes `"name":value` pairs, all of numbers, so that nothing needs quoting.
class Object {
 public:
  void Add(const char* name, std::int64_t value) { AddText(name, std::to_string(value)); }
  void Add(const char* name, const Counter& counter) {
    AddText(name, std::to_string(counter.value()));
  }
  void AddText(const std::string& name, const std::string& json) {
    text_ += (text_.empty() ? "\"" : ",\"") + name + "\":" + json;
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

void AddNetwork(Object& line, const NetworkCounters& network) {
  line.Add("frames_in", network.frames_in);
  line.Add("frames_out", network.frames_out);
  line.Add("client_frames_in", network.client_frames_in);
  line.Add("client_frames_out", network.client_frames_out);
  line.Add("bytes_in", network.bytes_in);
  line.Add("bytes_out", network.bytes_out);
  line.Add("reads", network.reads);
  line.Add("writes", network.writes);
  line.Add("accepted", network.accepted);
  line.Add("connected", network.connected);
  line.Add("lost", network.lost);
  line.Add("malformed", network.malformed);
  line.Add("dropped_frames", network.dropped_frames);
  line.Add("released_frames", network.released_frames);
}

void AddDisk(Object& line, const DiskCounters& disk) {
  line.Add("disk_batches", disk.batches);
  line.Add("disk_operations", disk.operations);
  line.Add("disk_writes", disk.writes);
  line.Add("disk_bytes", disk.bytes);
  line.Add("disk_syncs", disk.syncs);
  line.Add("disk_directory_syncs", disk.directory_syncs);
  line.Add("disk_errors", disk.errors);
}

}  // namespace

std::string MetricsLine(const MetricsContext& context, const RealHostCounters& counters) {
  Object line;
  line.Add("replica", std::int64_t{context.replica});
  line.Add("uptime_ms",
           std::chrono::duration_cast<std::chrono::milliseconds>(context.uptime).count());
  line.Add("cpu_ms", MillisecondsOfCpu());
  line.Add("turns", counters.turns);
  line.Add("steps", counters.steps);
  line.Add("observations", counters.observations);
  AddNetwork(line, counters.network);
  AddDisk(line, counters.disk);
  line.AddText("held_bytes", Array(context.held_bytes));
  Object observed;
  if (context.observed != nullptr) {
    for (const auto& [kind, observation] : *context.observed) {
      observed.AddText(std::to_string(kind), Array(observation.values));
    }
  }
  line.AddText("observed", observed.text());
  return line.text();
}

}  // namespace depfast::real
