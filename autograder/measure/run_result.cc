#include "run_result.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

namespace depfast::measure {
namespace {

using nlohmann::json;

double Rounded(double number, double per_unit) { return std::round(number * per_unit) / per_unit; }

std::string Hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
  return text;
}

json TextOrNull(const std::string& text) { return text.empty() ? json() : json(text); }

json ToJson(const Flows::Count& count) {
  return {{"frames", count.frames}, {"bytes", count.bytes}};
}

json ToJson(PeerId replica, const WaitRow& row) {
  return {{"replica", replica},    {"coroutine", row.coroutine},
          {"event", row.event},    {"needed", row.needed},
          {"total", row.total},    {"peers", row.peers},
          {"count", row.count},    {"total_ns", row.total_ns},
          {"max_ns", row.max_ns},  {"has_dependency", row.has_dependency},
          {"path_ns", row.path_ns}};
}

json ToJson(const Onset& onset, const testkit::LoadResult& load) {
  json line = {{"fault_from", onset.fault_from},
               {"fault_to", onset.fault_to},
               {"means_ns", json::array()},
               {"new_proposers", onset.new_proposers},
               {"answers", onset.answers}};
  for (const Duration mean : load.means) line["means_ns"].push_back(mean.count());
  if (!onset.has_slices) return line;
  line["slices_us"] = json::array();
  for (const auto& slot : load.slots) {
    json in_us = json::array();
    for (const Duration latency : slot) in_us.push_back(latency / 1us);
    line["slices_us"].push_back(std::move(in_us));
  }
  return line;
}

}  // namespace

json ToJson(const RunResult& result) {
  const testkit::LatencyRecorder& latencies = result.load.latencies;
  const double seconds = std::chrono::duration<double>(result.measured).count();
  json line = {
      {"throughput", Rounded(static_cast<double>(result.load.completed) / seconds, 1000)},
      {"offered", result.load.offered},
      {"unanswered", result.load.unanswered},
      {"passed_over", result.load.passed_over},
      {"mean_ns", latencies.Mean().count()},
      {"p50_ns", latencies.Percentile(500).count()},
      {"p99_ns", latencies.Percentile(990).count()},
      {"longest_ns", latencies.Percentile(1000).count()},
      {"completions", result.load.completions},
      {"peak_held_bytes", result.peak_held_bytes},
      {"peak_heap_bytes", result.peak_heap_bytes},
      {"resident_bytes", result.resident_bytes},
      {"unfinished_coroutines", result.unfinished_coroutines},
      {"pending_requests", result.pending_requests},
      {"slow", result.slow},
      {"catch_up_ns", result.catch_up ? json(result.catch_up->count()) : json()},
      {"fast_again_ns", result.fast_again ? json(result.fast_again->count()) : json()},
      {"slowly", Rounded(result.slowly, 1'000'000)},
      {"lag", result.lag},
      {"completed", result.load.completed},
      {"crossings", result.crossings},
      {"ack_cv", Rounded(latencies.Variation(), 10'000)},
      {"trace_hash", Hexadecimal(result.trace_hash)},
      {"twins", result.twins},
      {"error", TextOrNull(result.error)},
      {"violation", TextOrNull(result.violation)},
  };
  if (result.onset) line["onset"] = ToJson(*result.onset, result.load);
  if (result.evidence) {
    line["waits"] = json::array();
    for (const auto& [replica, row] : result.evidence->waits) {
      line["waits"].push_back(ToJson(replica, row));
    }
    line["flows"] = json::array();
    for (const auto& [link, flow] : result.evidence->flows) {
      line["flows"].push_back({{"sender", link.first},
                               {"receiver", link.second},
                               {"queued", ToJson(flow.queued)},
                               {"released", ToJson(flow.released)},
                               {"wire", ToJson(flow.wire)},
                               {"slots", flow.slots}});
    }
    line["unfinished"] = json::array();
    for (const auto& [replica, row] : result.evidence->unfinished) {
      line["unfinished"].push_back({{"replica", replica},
                                    {"name", row.name},
                                    {"is_call", row.peer != UnfinishedRow::kNoPeer},
                                    {"now", row.now}});
    }
  }
  return line;
}

}  // namespace depfast::measure
