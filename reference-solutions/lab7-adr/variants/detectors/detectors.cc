#include "detectors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "group.h"
#include "operator.h"

namespace depfast::adr {
namespace {

double Number(Duration value) { return static_cast<double>(value.count()); }

// By nearest rank. Requires: not empty.
double Percentile(std::vector<double> values, double percent) {
  const double rank = std::ceil(static_cast<double>(values.size()) * percent / 100);
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

// The latest values.
class Window {
 public:
  explicit Window(std::size_t size) : size_(size) {}

  void Add(double value) {
    values_.push_back(value);
    if (values_.size() > size_) values_.pop_front();
  }
  void Clear() { values_.clear(); }
  bool IsFull() const { return values_.size() == size_; }
  std::size_t size() const { return values_.size(); }
  double oldest() const { return values_.front(); }
  std::vector<double> values() const { return {values_.begin(), values_.end()}; }

 private:
  const std::size_t size_;
  std::deque<double> values_;
};

// Whether a stretch of time has passed since the last one ended, or since the first question.
class Rounds {
 public:
  explicit Rounds(Duration length) : length_(length) {}

  bool EndsAt(Time now) {
    if (end_ == kNever) end_ = now + length_;
    if (now < end_) return false;
    end_ = now + length_;
    return true;
  }

 private:
  const Duration length_;
  Time end_ = kNever;
};

// ---- static thresholds (document 004, figure 7) ----

class Static final : public Detector {
 public:
  explicit Static(const StaticThresholds& thresholds) : thresholds_(thresholds) {}

  Level Update(Time now, Duration value) override {
    if (pair_.IsFatal(now, value)) return Level::kFatal;
    return value > thresholds_.warn ? Level::kSlow : Level::kWell;
  }
  StaticThresholds limits() const override { return thresholds_; }

 private:
  const StaticThresholds thresholds_;
  StaticPair pair_{thresholds_};
};

// ---- ADR as its public Java code has it ----

// Windows of fixed length, slow values among them. The rate is the time of the last hundred
// updates. Nothing is forgotten without a fatal level.
class JavaAdr final : public Detector {
 public:
  Level Update(Time now, Duration value) override {
    values_.Add(Number(value));
    const bool is_long = Number(value) > Threshold(now);
    const Rate rate = RateNow(now);
    const bool is_slow = is_long && (rate == Rate::kLower || !values_.IsFull());
    states_.Add(is_slow ? 1 : 0);
    if (is_fatal_ && rate == Rate::kHigher && resets_.EndsAt(now)) Reset();
    if (rate != Rate::kLower) is_fatal_ = false;
    if (states_.IsFull() && IsContinuous()) is_fatal_ = true;
    if (is_fatal_) return Level::kFatal;
    return is_slow ? Level::kSlow : Level::kWell;
  }
  StaticThresholds limits() const override { return {.warn = kForever}; }

 private:
  enum class Rate : std::uint8_t { kLower, kNormal, kHigher };

  double Threshold(Time now) {
    if (!values_.IsFull()) return Number(StaticThresholds().warn);
    if (percentiles_.EndsAt(now) || percentile_ == 0)
      percentile_ = Percentile(values_.values(), 99);
    return percentile_;
  }

  Rate RateNow(Time now) {
    updates_.Add(Number(now));
    if (!updates_.IsFull()) return Rate::kNormal;
    const double span = Number(now) - updates_.oldest();
    spans_.Add(span);
    double sum = 0, squares = 0;
    for (const double each : spans_.values()) sum += each, squares += each * each;
    const auto count = static_cast<double>(spans_.size());
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    const double apart = std::abs(span - mean);
    if (apart <= deviation || apart <= mean / 2) return Rate::kNormal;
    return span > mean ? Rate::kLower : Rate::kHigher;
  }

  bool IsContinuous() const {
    double slow = 0;
    for (const double each : states_.values()) slow += each;
    return 2 * slow > static_cast<double>(states_.size());
  }

  void Reset() { values_.Clear(), states_.Clear(), spans_.Clear(); }

  static constexpr std::size_t kValues = 1000, kStates = 100;

  Window values_{kValues};
  Window updates_{kStates}, spans_{kStates}, states_{kStates};
  Rounds percentiles_{300ms}, resets_{1s};
  double percentile_ = 0;
  bool is_fatal_ = false;
};

// ---- TiKV's slow score (components/health_controller, slow_score.rs) ----

// A score of 1 to 100. A round with a tenth of late operations doubles it. Leaders leave at 80.
class SlowScore final : public Detector {
 public:
  Level Update(Time now, Duration value) override {
    ++operations_;
    if (value >= kLate) ++late_;
    if (rounds_.EndsAt(now)) EndRound();
    if (score_ >= kLeave) return Level::kFatal;
    return score_ > 1 ? Level::kSlow : Level::kWell;
  }

 private:
  void EndRound() {
    const double share = std::exchange(late_, 0) / std::exchange(operations_, 0);
    if (share > 0) {
      score_ = std::min(100.0, score_ * (1 + std::min(1.0, share / kShare)));
    } else {
      score_ = std::max(1.0, score_ - 100 * Number(kRound) / Number(kRecovery));
    }
  }

  static constexpr Duration kLate = 500ms, kRound = 3s, kRecovery = 300s;
  static constexpr double kShare = 0.1, kLeave = 80;

  Rounds rounds_{kRound};
  double operations_ = 0, late_ = 0, score_ = 1;
};

// ---- HDFS's outliers (OutlierDetector.java) ----

// The mean of a replica is compared with those of its peers. HDFS looks at hours, this at a second.
class Outlier final : public Detector {
 public:
  Level Update(Time now, Duration value) override {
    recent_.emplace_back(now, Number(value));
    while (recent_.front().first <= now - 1s) recent_.pop_front();
    double sum = 0;
    for (const auto& [at, each] : recent_) sum += each;
    place_.Tell(sum / static_cast<double>(recent_.size()));
    const std::vector<double> means = place_.Replicas();
    if (means.empty()) return Level::kWell;
    const double median = Median(means);
    std::vector<double> distances;
    for (const double mean : means) distances.push_back(std::abs(mean - median));
    const double limit =
        std::max({kLeast, 3 * median, median + 3 * kDeviations * Median(distances)});
    return means.front() > limit ? Level::kFatal : Level::kWell;
  }

 private:
  static constexpr double kLeast = 5e6;          // 5 ms
  static constexpr double kDeviations = 1.4826;  // from a median distance to a standard deviation

  Place place_;
  std::deque<std::pair<Time, double>> recent_;
};

// ---- Cruise Control's slow brokers (SlowBrokerFinder.java) ----

// A round's 99.9th percentile is odd beside the replica's own past, or its peers. Cruise Control
// has rounds of minutes. It would never reach two of its limits here, so they are left out: a flush
// of a second, and one slow broker of ten.
class SlowBroker final : public Detector {
 public:
  Level Update(Time now, Duration value) override {
    round_.push_back(Number(value));
    if (rounds_.EndsAt(now)) EndRound();
    return score_ >= kDemotion ? Level::kFatal : Level::kWell;
  }

 private:
  void EndRound() {
    const double figure = Percentile(std::exchange(round_, {}), 99.9);
    place_.Tell(figure);
    const std::vector<double> peers = place_.Replicas();
    const bool is_odd =
        (past_.size() >= kPastMin && figure > kMargin * Percentile(past_.values(), 90)) ||
        (!peers.empty() && peers.front() > kMargin * Median(peers));
    past_.Add(figure);
    score_ = is_odd ? std::min(score_ + 1, kDecommission) : std::max(score_ - 1, 0);
  }

  static constexpr int kDemotion = 5, kDecommission = 50;
  static constexpr double kMargin = 3;
  static constexpr std::size_t kPast = 20, kPastMin = 5;

  Place place_;
  Rounds rounds_{1s};
  std::vector<double> round_;
  Window past_{kPast};
  int score_ = 0;
};

// ---- a score of timeouts, as IASO has (document 004, section 5) ----

// Timeouts raise a replica's score, and a second without one halves it. A replica is slow if its
// score is far above its peers'. IASO's own remedies are an operator's.
class TimeoutScore final : public Detector {
 public:
  explicit TimeoutScore(Remedy remedy) : remedy_(remedy) {}

  Level Update(Time now, Duration value) override {
    if (value > StaticThresholds().warn) ++late_;
    if (seconds_.EndsAt(now)) {
      score_ = late_ > 0 ? score_ + std::exchange(late_, 0) : score_ / 2;
      place_.Tell(score_);
    }
    const std::vector<double> scores = place_.Replicas();
    const bool is_far = !scores.empty() && scores.front() > std::max(kLeast, 3 * Median(scores));
    if (is_far && remedy_ == Remedy::kHandOver) return Level::kFatal;
    if (is_far) TheAccusation() = {place_.replica(), remedy_};
    return score_ >= 1 ? Level::kSlow : Level::kWell;
  }

 private:
  static constexpr double kLeast = 10;

  const Remedy remedy_;
  Place place_;
  Rounds seconds_{1s};
  double late_ = 0, score_ = 0;
};

// ---- lab 4's wait spikes (wait_spikes.h) ----

// The mean of half a second is three times the usual one, and is so beside the best replica's, too.
class WaitSpikes final : public Detector {
 public:
  Level Update(Time now, Duration value) override {
    sum_ += Number(value), ++waits_;
    if (rounds_.EndsAt(now) && waits_ >= kLeastWaits) EndRound();
    return is_spike_ ? Level::kFatal : Level::kWell;
  }

 private:
  void EndRound() {
    const double mean = std::exchange(sum_, 0) / std::exchange(waits_, 0);
    place_.Tell(mean);
    const std::vector<double> means = place_.Replicas();
    if (means.empty()) return;
    const double ratio = means.front() / *std::min_element(means.begin() + 1, means.end());
    is_spike_ = usual_.size() >= kWarmUp && mean > kFactor * Median(usual_.values()) &&
                ratio > kFactor * Median(ratios_.values());
    if (!is_spike_) usual_.Add(mean), ratios_.Add(ratio);
  }

  static constexpr double kFactor = 3, kLeastWaits = 5;
  static constexpr std::size_t kRemembered = 20, kWarmUp = 5;

  Place place_;
  Rounds rounds_{500ms};
  double sum_ = 0, waits_ = 0;
  Window usual_{kRemembered}, ratios_{kRemembered};
  bool is_spike_ = false;
};

// ---- table ----

template <typename One>
std::unique_ptr<Detector> Make() {
  return std::make_unique<One>();
}

std::function<std::unique_ptr<Detector>()> MakeTimeoutScore(Remedy remedy) {
  return [remedy] { return std::make_unique<TimeoutScore>(remedy); };
}

std::function<std::unique_ptr<Detector>()> MakeStatic(const StaticThresholds& thresholds) {
  return [thresholds] { return std::make_unique<Static>(thresholds); };
}

using Table = std::map<std::string, std::function<std::unique_ptr<Detector>()>>;

// Vanilla has the thresholds of HBase in document 004, Table 3, the others those of Table 4.
const Table& Detectors() {
  static const Table table = {
      {"vanilla", MakeStatic({})},
      {"Static-1", MakeStatic({1ms, 10ms})},
      {"Static-2", MakeStatic({10ms, 100ms})},
      {"Static-3", MakeStatic({100ms, 1s})},
      {"ADR's code", Make<JavaAdr>},
      {"TiKV", Make<SlowScore>},
      {"HDFS", Make<Outlier>},
      {"Cruise Control", Make<SlowBroker>},
      {"IASO", MakeTimeoutScore(Remedy::kHandOver)},
      {"IASO, restart", MakeTimeoutScore(Remedy::kRestart)},
      {"IASO, shutdown", MakeTimeoutScore(Remedy::kShutdown)},
      {"lab 4's spikes", Make<WaitSpikes>},
  };
  return table;
}

}  // namespace

std::unique_ptr<Detector> MakeDetector() {
  const char* const given = std::getenv("ADR_DETECTOR");
  const std::string name = given == nullptr ? "" : given;
  const auto found = Detectors().find(name);
  if (found == Detectors().end()) {
    throw std::invalid_argument("ADR_DETECTOR: there is no detector '" + name + "'");
  }
  return found->second();
}

}  // namespace depfast::adr
