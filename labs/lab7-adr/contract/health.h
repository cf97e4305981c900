// Health: the levels of a replica and of its peers, and the replica that is suspected. Given, not
// submitted. It calls the student's detectors and diagnosis.
//
// Every replica asks every other one for its levels: the enhanced protocol to exchange slowness of
// document 004, section 4.2.2. The time of the answer is the value of the link's variable.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "depfast/processor_meter.h"
#include "depfast/runtime.h"
#include "health_messages.h"
#include "health_view.h"
#include "levels.h"
#include "vitals.h"

namespace depfast::adr {

class Health final : public HealthView {
 public:
  static constexpr Duration kAskInterval = 50ms;

  // Answers the peers from now on. The runtime must outlive it, and there is one for each runtime.
  explicit Health(Runtime& runtime);
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  // Asks the peers and measures from now on. Call once.
  void Start();

  std::shared_ptr<DiskEvent> MeasureSync(std::shared_ptr<DiskEvent> write,
                                         std::size_t bytes) override;

  // The student's Diagnose, now.
  Suspicion suspicion() const override;
  std::vector<PeerReport> reports() const override;
  // The latest one; 0 if none has ended within kReportAgeMax.
  Duration round_trip(PeerId peer) const override;
  // The student's SendsClientsAway, at the latest tick: each command of a client asks.
  bool sends_clients_away() const { return sends_clients_away_; }

  // All of health_claims.h that are known now.
  std::vector<Observation> claims() const;

 private:
  // Hears of the replica's hand-overs, too, and tells the disk's variable of steps.
  class Meter final : public ProcessorMeter {
   public:
    Meter(Runtime& runtime, DiskVital& disk) : ProcessorMeter(runtime), disk_(disk) {}
    void OnStepEnd(const Runtime& runtime, const StepUsage& usage) override;
    void OnCall(const Runtime& runtime, const Task& caller, const RpcCall& call) override;

    PeerId successor = kNobody;  // of the latest one
    Time handed_over{0};

   private:
    DiskVital& disk_;
  };

  struct Peer {
    explicit Peer(const Work& work) : link(work) {}

    LinkVital link;
    Levels levels;
    bool is_saturated = false;
    std::optional<Time> answered_at;  // levels are of then
  };

  Levels levels() const;
  bool SendsClientsAwayNow() const;
  void Ask(PeerId id);
  void OnAnswer(PeerId id, Time asked, const HealthAnswer& answer);
  void Tick();
  bool IsAnybodySaturated() const;

  Runtime& runtime_;
  Meter meter_;
  ProcessorVital processor_;
  Work work_{processor_};
  DiskVital disk_;
  std::map<PeerId, Peer> peers_;
  std::optional<Time> named_itself_at_;
  bool sends_clients_away_ = false;
};

}  // namespace depfast::adr
