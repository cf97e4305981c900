// AdaptiveThreshold (lab 7): is this value slow, and is there a slow fault? It learns from one
// variable, such as the time of a disk's sync (document 004, section 6.2). The rules R1 to R12 are
// those of the handout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "adr_options.h"
#include "depfast/time.h"

namespace depfast::adr {

// The rate of updates against the rates of the past.
enum class Rate : std::uint8_t { kLower, kNormal, kHigher };

__extension__ using Wide = __int128;  // not ISO C++, but gcc and clang both have it

// Values with their kPercentile-th percentile, by nearest rank.
class Percentile {
 public:
  void Insert(Duration value);
  // Requires: it is there.
  void Remove(Duration value);
  // Requires: not empty.
  Duration Get() const { return *low_.rbegin(); }

 private:
  void Balance();

  std::multiset<Duration> low_;   // the percentile, and all values up to it
  std::multiset<Duration> high_;  // no value is less than one of low_
};

// The updates before the recent ones, as far as they are usual.
class History {
 public:
  void Add(Duration value, std::int64_t rate);
  void ShrinkTo(std::size_t size);
  std::size_t size() const { return updates_.size(); }
  // Requires: not empty.
  Duration threshold() const { return values_.Get(); }
  Rate Compare(std::int64_t rate) const;

 private:
  struct Update {
    Duration value;
    std::int64_t rate;
  };

  std::deque<Update> updates_;
  Percentile values_;
  Wide rates_ = 0;    // the sum
  Wide squares_ = 0;  // of the rates, the sum
};

// Knows nothing of other variables: two of them share no data. An update takes O(log n), and all
// memory is less than 1 MiB with the usual options.
class AdaptiveThreshold {
 public:
  explicit AdaptiveThreshold(const AdrOptions& options) : options_(options) {}

  // An operation ended at `now`, and took `value`: one update. Returns whether that is slow (R5).
  // `static_warn` is the threshold until there is a learned one. `work`: the client commands of the
  // operation (R10). Requires: `now` never goes back; `value` and `work` are not negative.
  bool IsWarn(Time now, Duration value, Duration static_warn, int work = 1);

  // Whether there is a slow fault, or `value` is above the other static threshold (R8). It is about
  // the latest update, and changes nothing.
  bool IsFatal(Duration value, Duration static_fatal) const;

  // Comes every 100 ms. `oldest_under_way`: the begin of the oldest operation that has not ended,
  // if there is one (R12).
  void OnTick(Time now, std::optional<Time> oldest_under_way);

  // Whether the replica is saturated from now on (R11). At first it is not.
  void SetSaturated(bool saturated) { is_saturated_ = saturated; }

  // The threshold for the next update: the learned one, or the `static_warn` of the latest update.
  // kForever before the first one.
  Duration threshold() const;

  // The rate at the latest update (R4); kNormal after a reset.
  Rate rate() const { return window_.recent.empty() ? Rate::kNormal : window_.recent.back().state; }

  // The number of resets so far (R6).
  std::uint64_t resets() const { return resets_; }

 private:
  struct Recent {
    Time at;
    Duration value;
    std::int64_t rate;  // of the recent work, in thousandths of a command a second
    std::int32_t work;
    Rate state;
    bool is_slow;
  };

  // All that a reset forgets.
  struct Window {
    Time began{};  // the first update
    std::deque<Recent> recent;
    std::int64_t work = 0;                   // of the recent updates
    std::size_t slow = 0;                    // of the recent updates, those that are slow
    std::array<std::size_t, 3> states = {};  // of the recent updates, by Rate
    History history;
    bool is_learned = false;  // the history has been full
    bool is_fatal = false;
    Time fatal_at = Time::min();  // the latest update with a fatal level
  };

  bool Take(Time now, Duration value, int work);
  // Updates that are not recent any more become history, or are forgotten (R1, R2, R7).
  void MoveOn(Time now);
  bool IsUsual(const Recent& update) const;
  std::int64_t RateNow(Time now) const;
  Rate Compare(std::int64_t rate) const;
  bool IsSlow(const Recent& update) const;
  // Resets, or sets the level (R6, R9).
  void Check(Time now);

  const AdrOptions options_;
  bool is_saturated_ = false;
  Duration static_warn_ = kForever;
  std::uint64_t resets_ = 0;
  Window window_;
};

}  // namespace depfast::adr
