#include "put_load.h"

#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>

namespace depfast::load {
namespace {

constexpr std::size_t kOutstandingMax = 100'000;
constexpr std::uint64_t kKeys = 10'000;  // of the store, that the puts change in turn

Duration CpuTime() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

class Loop {
 public:
  Loop(PutTarget& target, const LoadOptions& options)
      : target_(target),
        options_(options),
        value_(options.value_bytes, 'v'),
        from_(begin_ + options.warm_up),
        to_(from_ + options.window) {
    report_.window_began = Time(from_.time_since_epoch());
    if (options_.slice > Duration::zero()) {
      report_.slices.resize(static_cast<std::size_t>((options_.window - 1ns) / options_.slice + 1));
    }
  }

  LoadReport Run() {
    const bool open = options_.puts_per_second > 0;
    if (!open) {
      for (int i = 0; i < options_.clients; ++i) Start(begin_);
    }
    std::optional<Duration> cpu_before;
    std::vector<PutTarget::Ended> ended;
    for (auto now = begin_; now < to_; now = Clock::now()) {
      if (!cpu_before && now >= from_) cpu_before = CpuTime();
      if (open) StartArrivals(now);
      target_.Await(open ? std::min(next_arrival_, to_) : to_, ended);
      const auto end = Clock::now();
      for (const auto& each : ended) {
        Finish(each, end);
        if (!open) Start(end);
      }
      ended.clear();
    }
    report_.cpu = CpuTime() - cpu_before.value_or(CpuTime());
    report_.leader_changes = target_.leader_changes();
    return std::move(report_);
  }

 private:
  void Start(Clock::time_point due) {
    const std::uint64_t id = ++last_id_;
    under_way_.emplace(id, due);
    target_.Start(id, "key " + std::to_string(id % kKeys), value_);
  }

  // Each arrival is moved by up to half an interval either way, so that arrivals do not fall into
  // step with batches. Latency counts from the time at which a put was due, not at which it was
  // sent. So a stall of the generator or of the store delays every put that was due meanwhile.
  void StartArrivals(Clock::time_point now) {
    const auto interval = Duration(std::chrono::seconds(1)) / options_.puts_per_second;
    while (next_arrival_ <= now) {
      Start(next_arrival_);
      ++arrivals_;
      const auto jitter = static_cast<std::int64_t>(
          stream_.Below(static_cast<std::uint64_t>(std::max<std::int64_t>(interval.count(), 1))));
      next_arrival_ = begin_ + interval * arrivals_ + Duration(jitter) - interval / 2;
    }
    if (under_way_.size() > kOutstandingMax) {
      throw std::runtime_error("the store cannot keep up with this rate");
    }
  }

  void Finish(const PutTarget::Ended& ended, Clock::time_point end) {
    const auto found = under_way_.find(ended.id);
    const auto due = found->second;
    under_way_.erase(found);
    if (!ended.committed) {
      ++report_.failed;
    } else if (end >= from_ && end < to_) {
      ++report_.committed;
      if (due >= from_) report_.latencies.Add(end - due);
      if (!report_.slices.empty()) {
        const auto slice = static_cast<std::size_t>((end - from_) / options_.slice);
        report_.slices.at(slice).push_back(end - due);
      }
    }
  }

  PutTarget& target_;
  const LoadOptions options_;
  const std::string value_;
  const Clock::time_point begin_ = Clock::now();
  const Clock::time_point from_;  // of the window
  const Clock::time_point to_;
  Clock::time_point next_arrival_ = begin_;
  std::int64_t arrivals_ = 0;
  RandomStream stream_{1, 0};
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, Clock::time_point> under_way_;  // when each was due
  LoadReport report_;
};

}  // namespace

LoadReport Run(PutTarget& target, const LoadOptions& options) {
  return Loop(target, options).Run();
}

}  // namespace depfast::load
