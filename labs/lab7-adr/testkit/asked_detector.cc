#include "asked_detector.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "static_pair.h"
#include "testkit/history.h"

namespace depfast::adr {
namespace {

// A pair of document 004. Table 4 has no number of warnings: it is that of Table 3.
struct NamedPair {
  const char* name;
  StaticThresholds thresholds;
};
constexpr NamedPair kPairs[] = {{"Table 3", {}},
                                {"Static-1", {.warn = 1ms, .fatal = 10ms}},
                                {"Static-2", {.warn = 10ms, .fatal = 100ms}},
                                {"Static-3", {.warn = 100ms, .fatal = 1s}}};

std::string After(std::int64_t ns) {
  return ns < 0 ? "never" : "after " + testkit::FormatTime(Time(ns));
}

// The first fatal answer of a static pair in the stretch, since its begin; negative without one.
std::int64_t FirstFatal(const StreamWriter& writer, std::size_t stretch,
                        const StaticThresholds& thresholds) {
  const auto& [order, ends] = writer.stream();
  const std::size_t begin = stretch == 0 ? 0 : ends[stretch - 1];
  StaticPair pair(thresholds);
  Time now = 1h;
  Time began = now;
  for (std::size_t i = 0; i < ends[stretch]; ++i) {
    if (i == begin) began = now;
    const PlantedRun& run = writer.runs()[order[i]];
    for (std::int64_t update = 0; update < run.times; ++update) {
      now += Duration(run.gap_ns);
      if (run.kind != PlantedRun::Kind::kUpdates) continue;
      if (pair.IsFatal(now, Duration(run.value_ns)) && i >= begin) return Ns(now - began);
    }
  }
  return -1;
}

// A stub has the longest of all.
std::string Threshold(Duration threshold) {
  return threshold == Duration::max() ? "none" : testkit::FormatTime(threshold);
}

}  // namespace

namespace {

// In a piece at most this time passes in a stream, and at most this number of runs. A run has parts
// as small.
constexpr Duration kPiece = 250ms;
constexpr std::size_t kTurnsMax = 512;

// Adds the stream to the request, and cuts its long runs to parts.
void AddStream(const StreamWriter& writer, WatchStreams& request) {
  std::vector<std::vector<std::uint32_t>> parts;  // by run
  const auto add = [&request, &parts](const PlantedRun& part) {
    parts.back().push_back(static_cast<std::uint32_t>(request.runs.size()));
    request.runs.push_back(part);
  };
  for (const PlantedRun& run : writer.runs()) {
    parts.emplace_back();
    const std::int64_t most =
        std::clamp<std::int64_t>(Ns(kPiece) / std::max<std::int64_t>(run.gap_ns, 1), 1, kTurnsMax);
    for (std::int64_t done = 0; done < run.times; done += most) {
      PlantedRun part = run;
      part.times = std::min(most, run.times - done);
      part.goes_on = done > 0;
      add(part);
    }
  }
  const auto& [order, ends] = writer.stream();
  PlantedStream& added = request.streams.emplace_back();
  for (std::size_t turn = 0; turn < order.size(); ++turn) {
    const std::vector<std::uint32_t>& all = parts[order[turn]];
    added.order.insert(added.order.end(), all.begin(), all.end());
    if (added.ends.size() < ends.size() && ends[added.ends.size()] == turn + 1) {
      added.ends.push_back(static_cast<std::uint32_t>(added.order.size()));
    }
  }
}

// The next runs of each stream. `shown`: their number so far, by stream.
WatchStreams NextPiece(const WatchStreams& request, std::vector<std::size_t>& shown) {
  WatchStreams piece{.number = request.number,
                     .piece = request.piece,
                     .recent_min = request.recent_min,
                     .history_per_recent = request.history_per_recent,
                     .rates_per_recent = request.rates_per_recent,
                     .window_max = request.window_max,
                     .warn_ns = request.warn_ns,
                     .fatal_ns = request.fatal_ns};
  std::unordered_map<std::uint32_t, std::uint32_t> places;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::vector<std::uint32_t>& all = request.streams[i].order;
    std::vector<std::uint32_t>& order = piece.streams.emplace_back().order;
    Duration passed{};
    for (; shown[i] < all.size() && order.size() < kTurnsMax; ++shown[i]) {
      const PlantedRun& run = request.runs[all[shown[i]]];
      passed += Duration(run.gap_ns) * run.times;
      if (passed > kPiece && !order.empty()) break;
      const auto next = static_cast<std::uint32_t>(piece.runs.size());
      const auto [place, is_new] = places.try_emplace(all[shown[i]], next);
      if (is_new) piece.runs.push_back(run);
      order.push_back(place->second);
    }
  }
  return piece;
}

// Adds up the reports of the runs of one stream.
class Tally {
 public:
  void Add(const PlantedRun& run, const RunReport& seen) {
    report_.warnings += seen.warnings;
    report_.fatals += seen.fatals;
    if (seen.first_fatal >= 0 && report_.first_fatal_ns < 0) {
      report_.first_fatal_ns = passed_ns_ + run.gap_ns * (seen.first_fatal + 1);
    }
    passed_ns_ += run.gap_ns * run.times;
    report_.threshold_ns = seen.threshold_ns;
    report_.resets = seen.resets - resets_;
  }

  StretchReport EndStretch() {
    resets_ += report_.resets;
    passed_ns_ = 0;
    return std::exchange(report_, {});
  }

 private:
  StretchReport report_;
  std::int64_t passed_ns_ = 0;  // of the stretch
  std::uint64_t resets_ = 0;    // before the stretch
};

}  // namespace

std::vector<std::vector<StretchReport>> AskedDetector::WatchAll(
    const std::vector<StreamWriter>& writers, const StaticLimits& limits) {
  WatchStreams request{.warn_ns = limits.warn.count(), .fatal_ns = limits.fatal.count()};
  for (const StreamWriter& writer : writers) AddStream(writer, request);
  request.number = ++shown_;
  std::vector<Tally> tallies(writers.size());
  std::vector<std::vector<StretchReport>> seen(writers.size());
  std::vector<std::size_t> shown(writers.size());
  const auto is_left = [&](std::size_t i) { return shown[i] < request.streams[i].order.size(); };
  while (std::ranges::any_of(std::views::iota(std::size_t{0}, shown.size()), is_left)) {
    std::vector<std::size_t> at = shown;
    PlantedReport report = Ask(NextPiece(request, shown));
    ++request.piece;
    report.streams.resize(writers.size());
    for (std::size_t i = 0; i < writers.size(); ++i) {
      const auto& [order, ends] = request.streams[i];
      report.streams[i].runs.resize(shown[i] - at[i]);
      for (const RunReport& run : report.streams[i].runs) {
        tallies[i].Add(request.runs[order[at[i]++]], run);
        if (seen[i].size() < ends.size() && ends[seen[i].size()] == at[i]) {
          seen[i].push_back(tallies[i].EndStretch());
        }
      }
    }
  }
  return seen;
}

// In one piece: knowing what comes is of no use to a detector that must have every right answer.
std::vector<std::string> AskedDetector::States(WatchStreams request) {
  request.number = ++shown_;
  request.wants_states = true;
  PlantedReport report = Ask(request);
  report.streams.resize(request.streams.size());
  std::vector<std::string> states;
  for (std::size_t i = 0; i < report.streams.size(); ++i) {
    states.push_back(std::move(report.streams[i].states));
    states.back().resize(request.streams[i].order.size());
  }
  return states;
}

testing::AssertionResult FindsTheFault(const StreamWriter& writer, std::size_t stretch,
                                       const std::vector<StretchReport>& all) {
  const StretchReport& seen = all[stretch];
  const Duration found(seen.first_fatal_ns);
  if (found >= kNotFoundBefore && found <= kFoundWithin) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure();
  failure << "the slow fault must be fatal after " << testkit::FormatTime(kNotFoundBefore)
          << " at least, and within " << testkit::FormatTime(kFoundWithin) << ", and was "
          << After(seen.first_fatal_ns) << "; warnings: " << seen.warnings
          << ", resets: " << seen.resets
          << ", threshold after it: " << Threshold(Duration(seen.threshold_ns))
          << ". With static thresholds it was";
  for (const NamedPair& pair : kPairs) {
    failure << " " << After(FirstFatal(writer, stretch, pair.thresholds)) << " (" << pair.name
            << ")";
  }
  return failure;
}

testing::AssertionResult IsQuiet(const StretchReport& seen) {
  if (seen.fatals == 0 && seen.resets == 0) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure();
  failure << "neither a fatal level nor a reset may come, and there were " << seen.fatals
          << " fatal answers and " << seen.resets << " resets";
  if (seen.fatals == 0) return failure;
  return failure << "; the first fatal one after "
                 << testkit::FormatTime(Time(seen.first_fatal_ns));
}

testing::AssertionResult HasLearned(const StretchReport& seen, const Stretch& stretch) {
  const Duration usual = stretch.value * (100 + stretch.noise) / 100;
  const Duration threshold(seen.threshold_ns);
  if (threshold >= usual * 9 / 10 && threshold <= usual * 11 / 10) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "the threshold must be within a tenth of " << testkit::FormatTime(usual) << ", and is "
         << Threshold(threshold);
}

}  // namespace depfast::adr
