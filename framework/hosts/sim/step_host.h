// StepHost: a Host that works in steps. Runs a replica in this process: for the simulator, and
// inside a sealed replica's own process.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/host/hosted_runtime.h"
#include "depfast/host/probe.h"
#include "depfast/host/random.h"
#include "depfast/host/service.h"
#include "sim/step.h"

namespace depfast::sim {

using ServiceFactory = std::function<std::unique_ptr<Service>(Runtime&)>;

class StepHost final : public ReplicaBackend, private Host {
 public:
  // The service is made in the first step. So its constructor sees the time and may use the host,
  // and an exception of the constructor is a death like any other. `probe`: null, or it outlives
  // the host. Throws std::invalid_argument for an unknown name in config.probes.
  StepHost(const ReplicaConfig& config, ServiceFactory make_service, RuntimeProbe* probe = nullptr,
           const NoteSink& notes = {});

  // The host goes dead first, then the stacks unwind: their outputs during the unwinding do not
  // cross.
  ~StepHost() override;

  StepOutput Step(const StepInput& input) override;
  std::string DumpCoroutines() override;
  std::string Report(const std::string& probe) override;

  HostedRuntime& runtime() { return runtime_; }

 private:
  Time Now() override { return now_; }
  std::uint64_t Random() override;
  FrameId Send(PeerId peer, Bytes frame) override;
  void Release(PeerId peer, FrameId frame) override;
  std::size_t HeldBytes(PeerId peer) override;
  void Submit(IoRequest request) override;
  void WakeAt(Time when) override;
  void Observe(const Observation& observation) override;

  void StartService();
  void Emit(Output output);

  std::map<std::string, std::unique_ptr<ReportingProbe>> probes_;  // its own, by name
  bool dead_ = false;
  Time now_{0};
  RandomStream random_;
  FrameId last_frame_ = 0;
  std::vector<std::size_t> held_bytes_;  // by replica id, as Host::HeldBytes reports it
  StepOutput output_;
  HostedRuntime runtime_;
  ServiceFactory make_service_;
  std::unique_ptr<Service> service_;  // null before the first step
};

// Makes backends that run in this process: for students, debuggers and sanitizers. `probe`: null,
// or it outlives them; it hears of all of them, as `notes` does.
BackendFactory InProcessReplicas(ServiceFactory make_service, RuntimeProbe* probe = nullptr,
                                 NoteSink notes = {});

}  // namespace depfast::sim
