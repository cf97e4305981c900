#include "sim/step_host.h"

#include <cassert>
#include <exception>
#include <utility>

#include "core/probe_scope.h"
#include "depfast/verify/probes.h"

namespace depfast::sim {
namespace {

using OwnProbes = std::map<std::string, std::unique_ptr<ReportingProbe>>;

OwnProbes MakeProbes(const std::vector<std::string>& names) {
  OwnProbes probes;
  for (const std::string& name : names) probes[name] = MakeProbe(name);
  return probes;
}

RuntimeOptions OptionsOf(const ReplicaConfig& config, const OwnProbes& own, RuntimeProbe* probe,
                         const NoteSink& notes) {
  RuntimeOptions options;
  options.self = config.self;
  options.replicas = config.replicas;
  options.groups = config.groups;
  for (const auto& [name, one] : own) options.probes.push_back(one.get());
  if (probe != nullptr) options.probes.push_back(probe);
  options.notes = notes;
  return options;
}

}  // namespace

StepHost::StepHost(const ReplicaConfig& config, ServiceFactory make_service, RuntimeProbe* probe,
                   const NoteSink& notes)
    : probes_(MakeProbes(config.probes)),
      random_(config.random_seed),
      runtime_(*this, OptionsOf(config, probes_, probe, notes)),
      make_service_(std::move(make_service)) {}

StepHost::~StepHost() {
  dead_ = true;
  runtime_.Shutdown();
}

StepOutput StepHost::Step(const StepInput& input) {
  assert(input.now >= now_ && "time does not go backwards");
  if (service_ != nullptr) runtime_.StepEnded({now_, input.last_cost, input.last_took});
  now_ = input.now;
  held_bytes_ = input.held_bytes;
  try {
    if (service_ == nullptr) runtime_.Start([this] { StartService(); });
    for (const IoCompletion& completion : input.completions) runtime_.DeliverIo(completion);
    for (const FrameArrival& frame : input.frames) {
      runtime_.DeliverFrame(frame.from, *frame.bytes);
    }
    runtime_.Run();
  } catch (const std::exception& error) {
    output_.death = std::string("an exception escaped: ") + error.what();
  } catch (...) {
    output_.death = "an exception escaped that is not a std::exception";
  }
  return std::exchange(output_, {});
}

void StepHost::StartService() {
  service_ = make_service_(runtime_);
  service_->Start();
}

std::string StepHost::DumpCoroutines() { return runtime_.DumpCoroutines(); }

std::string StepHost::Report(const std::string& probe) {
  const auto found = probes_.find(probe);
  const ProbeScope scope;
  return found == probes_.end() ? "" : found->second->Report(runtime_);
}

std::uint64_t StepHost::Random() {
  ++output_.random_draws;
  return random_.Next();
}

FrameId StepHost::Send(PeerId peer, Bytes frame) {
  assert(frame->size() <= kMaxFrameBytes);
  if (const auto index = static_cast<std::size_t>(peer); index < held_bytes_.size()) {
    held_bytes_[index] += frame->size();
  }
  Emit(SendFrame{++last_frame_, peer, std::move(frame)});
  return last_frame_;
}

void StepHost::Release(PeerId peer, FrameId frame) { Emit(ReleaseFrame{frame, peer}); }

std::size_t StepHost::HeldBytes(PeerId peer) {
  return held_bytes_.at(static_cast<std::size_t>(peer));
}

void StepHost::Submit(IoRequest request) { Emit(std::move(request)); }
void StepHost::WakeAt(Time when) { Emit(SetWake{when}); }
void StepHost::Observe(const Observation& observation) { Emit(observation); }

void StepHost::Emit(Output output) {
  if (!dead_) output_.outputs.push_back(std::move(output));
}

BackendFactory InProcessReplicas(ServiceFactory make_service, RuntimeProbe* probe, NoteSink notes) {
  return [make_service = std::move(make_service), probe, notes = std::move(notes)](
             const ReplicaConfig& config) -> std::unique_ptr<ReplicaBackend> {
    return std::make_unique<StepHost>(config, make_service, probe, notes);
  };
}

}  // namespace depfast::sim
