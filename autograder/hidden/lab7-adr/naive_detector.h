// NaiveDetector: rules R1 to R12, word for word and slowly. It keeps all updates in vectors, and
// counts and sorts them again at each update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "adr_options.h"
#include "planted_streams.h"

namespace depfast::adr {

class NaiveDetector {
 public:
  NaiveDetector(const AdrOptions& options, Duration warn, Duration fatal)
      : options_(options), next_warn_(warn), fatal_(fatal) {}

  // Makes the calls of the run. Returns the state after it, as the driver does.
  char Show(const PlantedRun& run);

 private:
  enum class Rate : std::uint8_t { kLower, kNormal, kHigher };

  struct Update {
    Time at;
    Duration value;
    std::int64_t work;
    std::int64_t rate = 0;
    Rate state = Rate::kNormal;
    bool is_slow = false;
  };

  void Take(Duration value, std::int64_t work);
  bool IsRecent(std::size_t update) const;
  void MoveOn();
  std::int64_t RateNow() const;
  Rate Compare(std::int64_t rate) const;
  Duration Threshold() const;
  template <typename Property>
  bool MostRecentAre(Property property) const;

  const AdrOptions options_;
  Duration next_warn_;        // of the next update
  Duration warn_ = kForever;  // of the latest update
  const Duration fatal_;
  Time now_ = 1h;
  bool is_saturated_ = false;
  bool is_warn_ = false;
  int resets_ = 0;
  // Since the latest reset.
  Time began_{};
  std::vector<Update> recent_;
  std::vector<Update> history_;
  bool is_learned_ = false;
  bool is_fatal_ = false;
  std::vector<Time> fatal_at_;
};

// The states after the runs of each of the request's streams.
std::vector<std::string> NaiveStates(const WatchStreams& request);

}  // namespace depfast::adr
