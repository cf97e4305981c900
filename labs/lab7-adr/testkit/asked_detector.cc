#include "asked_detector.h"

#include <cstddef>
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

std::vector<std::vector<StretchReport>> AskedDetector::WatchAll(
    const std::vector<StreamWriter>& writers, const StaticLimits& limits) {
  WatchStreams request{.warn_ns = limits.warn.count(), .fatal_ns = limits.fatal.count()};
  for (const StreamWriter& writer : writers) {
    const auto first = static_cast<std::uint32_t>(request.runs.size());
    request.runs.insert(request.runs.end(), writer.runs().begin(), writer.runs().end());
    request.streams.push_back(writer.stream());
    for (std::uint32_t& place : request.streams.back().order) place += first;
  }
  PlantedReport report = Ask(request);
  report.streams.resize(writers.size());
  std::vector<std::vector<StretchReport>> seen;
  for (std::size_t i = 0; i < writers.size(); ++i) {
    seen.push_back(std::move(report.streams[i].stretches));
    seen.back().resize(writers[i].stream().ends.size());
  }
  return seen;
}

std::vector<std::string> AskedDetector::States(WatchStreams request) {
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

std::string FirstFatalOf(const StretchReport& seen) { return After(seen.first_fatal_ns); }

std::string WithStaticPairs(const StreamWriter& writer, std::size_t stretch) {
  std::string words;
  for (const NamedPair& pair : kPairs) {
    words += " " + After(FirstFatal(writer, stretch, pair.thresholds)) + " (" + pair.name + ")";
  }
  return words;
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
          << ". With static thresholds it was" << WithStaticPairs(writer, stretch);
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
