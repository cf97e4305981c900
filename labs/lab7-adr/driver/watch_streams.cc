#include "watch_streams.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

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

  // Makes the calls of the run, and adds their answers to the stretch. Returns the state after it.
  char Show(const PlantedRun& run) {
    const auto resets = detector_.resets();
    begin_ = now_;
    for (std::int64_t i = 0; i < run.times; ++i) {
      now_ += Duration(run.gap_ns);
      Call(run);
      stretch_.warnings += is_warn_ ? 1 : 0;
      stretch_.fatals += is_fatal_ ? 1 : 0;
      if (is_fatal_ && stretch_.first_fatal_ns < 0) {
        stretch_.first_fatal_ns = (now_ - stretch_begin_).count();
      }
    }
    return StateAfter(is_warn_, is_fatal_, static_cast<int>(detector_.rate()),
                      detector_.resets() != resets, Reaches(run, detector_.threshold()));
  }

  StretchReport EndStretch() {
    stretch_.threshold_ns = detector_.threshold().count();
    stretch_.resets = detector_.resets() - resets_;
    resets_ = detector_.resets();
    stretch_begin_ = now_;
    return std::exchange(stretch_, {});
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
  Time stretch_begin_ = now_;
  std::uint64_t resets_ = 0;  // before the stretch
  StretchReport stretch_;
};

WatchedStream::~WatchedStream() = default;

StreamWatcher::StreamWatcher() = default;
StreamWatcher::~StreamWatcher() = default;

PlantedReport StreamWatcher::Watch(const WatchStreams& request) {
  const AdrOptions options{request.recent_min, request.history_per_recent, request.rates_per_recent,
                           request.window_max};
  streams_.clear();
  std::size_t turns = 0;
  for (const PlantedStream& stream : request.streams) {
    streams_.push_back(std::make_unique<WatchedStream>(request, options));
    turns = std::max(turns, stream.order.size());
  }
  PlantedReport report;
  report.streams.resize(streams_.size());
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const auto& [order, ends] = request.streams[i];
      if (turn >= order.size()) continue;
      auto& [states, stretches] = report.streams[i];
      const char state = streams_[i]->Show(request.runs.at(order[turn]));
      if (request.wants_states) states.push_back(state);
      if (stretches.size() < ends.size() && ends[stretches.size()] == turn + 1) {
        stretches.push_back(streams_[i]->EndStretch());
      }
    }
  }
  return report;
}

}  // namespace depfast::adr
