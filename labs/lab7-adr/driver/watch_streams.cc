#include "watch_streams.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include "adaptive_threshold.h"

namespace depfast::adr {

// One stream: its clock, and its detector.
class WatchedStream {
 public:
  WatchedStream(const WatchStreams& request, const AdrOptions& options)
      : warn_(request.warn_ns), fatal_(request.fatal_ns), detector_(options) {}

  // Written out, so that this class has one whether or not the student's has one.
  ~WatchedStream();
  WatchedStream(const WatchedStream&) = delete;
  WatchedStream& operator=(const WatchedStream&) = delete;

  // Makes the calls of the run. Adds what the request asks for to the report. The types are ours:
  // the student's functions may return anything that turns into them.
  void Show(const PlantedRun& run, bool wants_state, StreamReport& report) {
    const std::uint64_t before = detector_.resets();
    if (!run.goes_on) begin_ = now_;
    RunReport seen;
    for (std::int64_t i = 0; i < run.times; ++i) {
      now_ += Duration(run.gap_ns);
      Call(run);
      seen.warnings += is_warn_ ? 1 : 0;
      seen.fatals += is_fatal_ ? 1 : 0;
      if (is_fatal_ && seen.first_fatal < 0) seen.first_fatal = i;
    }
    const Duration threshold = detector_.threshold();
    seen.threshold_ns = threshold.count();
    seen.resets = detector_.resets();
    if (!wants_state) return report.runs.push_back(seen);
    const Rate rate = detector_.rate();
    report.states.push_back(StateAfter(is_warn_, is_fatal_, static_cast<int>(rate),
                                       seen.resets != before, Reaches(run, threshold)));
  }

 private:
  void Call(const PlantedRun& run) {
    // Constants: the student's parameter may be a reference, and our clock is not theirs to set.
    const Time now = now_;
    const Duration warn = warn_;
    const Duration value(run.value_ns);
    is_warn_ = false;
    switch (run.kind) {
      case PlantedRun::Kind::kUpdates:
        is_warn_ = detector_.IsWarn(now, value, warn, run.work);
        break;
      case PlantedRun::Kind::kTicks:
        detector_.OnTick(now, now - value);
        break;
      case PlantedRun::Kind::kIdleTicks:
        detector_.OnTick(now, std::nullopt);
        break;
      case PlantedRun::Kind::kStall:
        detector_.OnTick(now, Time(begin_));
        break;
      case PlantedRun::Kind::kSaturated:
        detector_.SetSaturated(true);
        break;
      case PlantedRun::Kind::kNotSaturated:
        detector_.SetSaturated(false);
        break;
      case PlantedRun::Kind::kStaticWarn:
        warn_ = value;
        break;
    }
    const bool is_update = run.kind == PlantedRun::Kind::kUpdates;
    is_fatal_ = detector_.IsFatal(is_update ? value : Duration(), fatal_);
  }

  Duration warn_;
  const Duration fatal_;
  AdaptiveThreshold detector_;
  // No operation has begun before the clock did.
  Time now_ = 1h;
  Time begin_ = now_;  // of the latest run
  bool is_warn_ = false;
  bool is_fatal_ = false;
};

WatchedStream::~WatchedStream() = default;

StreamWatcher::StreamWatcher() = default;
StreamWatcher::~StreamWatcher() = default;

PlantedReport StreamWatcher::Watch(const WatchStreams& request) {
  const AdrOptions options{request.recent_min, request.history_per_recent, request.rates_per_recent,
                           request.window_max};
  if (request.number != number_ || request.piece == 0) {
    number_ = request.number;
    streams_.clear();
    while (streams_.size() < request.streams.size()) {
      streams_.push_back(std::make_unique<WatchedStream>(request, options));
    }
  }
  std::size_t turns = 0;
  for (const PlantedStream& stream : request.streams) turns = std::max(turns, stream.order.size());
  PlantedReport report;
  report.streams.resize(request.streams.size());
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < request.streams.size(); ++i) {
      const std::vector<std::uint32_t>& order = request.streams[i].order;
      if (turn >= order.size()) continue;
      streams_.at(i)->Show(request.runs.at(order[turn]), request.wants_states, report.streams[i]);
    }
  }
  return report;
}

}  // namespace depfast::adr
