// Planted health: a test tells a replica whom it finds slow. Given, not submitted.
//
// So the tests of hand-overs need no detector and no diagnosis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "depfast/host/frame.h"
#include "health_view.h"
#include "levels.h"

namespace depfast::adr {

// The calls of MeasureSync since the replica's start, and the sum of their bytes.
struct PlantHealthReply {
  std::uint64_t syncs = 0;
  std::uint64_t bytes = 0;
  DEPFAST_FIELDS(syncs, bytes)
};

// From now on the replica's health has these answers, until its next start.
struct PlantHealth {
  using Reply = PlantHealthReply;
  static constexpr MethodId kMethod = 146;
  static constexpr const char* kName = "PlantHealth";
  Suspicion suspicion;
  std::vector<PeerReport> reports;  // their ages do not change
  std::map<PeerId, std::int64_t> round_trips_ns = {};
  DEPFAST_FIELDS(suspicion, reports, round_trips_ns)
};

// The replica's own health, unless a test has planted another.
class PlantableHealth final : public HealthView {
 public:
  // `own`: null for a replica that watches nothing, and finds nobody slow. It outlives this.
  explicit PlantableHealth(HealthView* own) : own_(own) {}

  PlantHealthReply Plant(const PlantHealth& planted) {
    planted_ = planted;
    return measured_;
  }

  Suspicion suspicion() const override {
    if (planted_) return planted_->suspicion;
    return own_ == nullptr ? Suspicion() : own_->suspicion();
  }
  std::vector<PeerReport> reports() const override {
    if (planted_) return planted_->reports;
    return own_ == nullptr ? std::vector<PeerReport>() : own_->reports();
  }
  Duration round_trip(PeerId peer) const override {
    if (!planted_) return own_ == nullptr ? Duration(0) : own_->round_trip(peer);
    const auto known = planted_->round_trips_ns.find(peer);
    return Duration(known == planted_->round_trips_ns.end() ? 0 : known->second);
  }
  std::shared_ptr<DiskEvent> MeasureSync(std::shared_ptr<DiskEvent> write,
                                         std::size_t bytes) override {
    ++measured_.syncs;
    measured_.bytes += bytes;
    return own_ == nullptr ? write : own_->MeasureSync(std::move(write), bytes);
  }

 private:
  HealthView* const own_;
  std::optional<PlantHealth> planted_;
  PlantHealthReply measured_;
};

}  // namespace depfast::adr
