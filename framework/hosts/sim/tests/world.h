// Scripted replicas, and a world that records all observer calls: for tests of the simulator
// itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "depfast/time.h"
#include "sim/profile.h"
#include "sim/simulator.h"

namespace depfast::sim {

using namespace faults;  // NOLINT: tests of plans read like plans

// One step of a scripted replica: its inputs, and the calls it can make.
class Turn {
 public:
  Turn(const ReplicaConfig& config, const StepInput& step_input, bool is_first, FrameId& last_frame)
      : self(config.self), input(step_input), first(is_first), last_frame_(last_frame) {}

  FrameId Send(PeerId to, std::string bytes) {
    output.outputs.emplace_back(SendFrame{++last_frame_, to, MakeBytes(std::move(bytes))});
    return last_frame_;
  }
  void Release(PeerId to, FrameId frame) { output.outputs.emplace_back(ReleaseFrame{frame, to}); }
  void WakeAt(Time when) { output.outputs.emplace_back(SetWake{when}); }
  void Append(std::string file, std::string data, bool sync) {
    IoRequest request;
    request.sync = sync;
    request.file = std::move(file);
    request.data = MakeBytes(std::move(data));
    output.outputs.emplace_back(std::move(request));
  }

  const PeerId self;
  const StepInput& input;
  const bool first;  // of this incarnation
  StepOutput output;

 private:
  FrameId& last_frame_;
};

using Script = std::function<void(Turn&)>;

class ScriptedReplica final : public ReplicaBackend {
 public:
  ScriptedReplica(const ReplicaConfig& config, Script script)
      : config_(config), script_(std::move(script)) {}

  StepOutput Step(const StepInput& input) override {
    Turn turn(config_, input, std::exchange(first_, false), last_frame_);
    script_(turn);
    return std::move(turn.output);
  }
  std::string DumpCoroutines() override { return "a script\n"; }
  std::string Report(const std::string&) override { return ""; }

 private:
  ReplicaConfig config_;
  Script script_;
  bool first_ = true;
  FrameId last_frame_ = 0;
};

// Costs without jitter and with a different number for each thing, so that a sum names its parts.
inline Profile Exact() {
  Profile profile;
  profile.name = "exact";
  profile.cpu.per_step = 10us;
  profile.cpu.per_frame = 5us;
  profile.cpu.per_client_frame = 7us;
  profile.cpu.per_io = 3us;
  profile.cpu.per_kib = 1024ns;     // 1 ns a byte
  profile.cpu.per_io_kib = 2048ns;  // 2 ns a byte
  profile.disk.per_batch = 20us;
  profile.disk.sync = 500us;
  profile.disk.sync_jitter = {};
  profile.disk.bytes_per_second = 1'000'000'000;  // 1 ns a byte
  profile.net.latency = 100us;
  profile.net.latency_jitter = {};
  profile.net.bytes_per_second = 500'000'000;  // 2 ns a byte
  return profile;
}

// A simulator, and a record of all that its observers hear.
class World : public Observer {
 public:
  struct Step {
    PeerId replica;
    Time at;
    std::vector<std::pair<PeerId, std::string>> frames;
    std::vector<IoCompletion> completions;
    std::uint64_t heap_bytes;
  };

  explicit World(Script script, int replicas = 2, Profile profile = Exact(), std::uint64_t seed = 1)
      : World(
            [script = std::move(script)](const ReplicaConfig& config) {
              return std::make_unique<ScriptedReplica>(config, script);
            },
            replicas, profile, seed) {}

  World(BackendFactory factory, int replicas, Profile profile, std::uint64_t seed)
      : sim({replicas, seed, profile, std::move(factory), {}}) {
    sim.AddObserver(this);
  }

  // Boots the replicas and lets their first steps pass: then nothing is under way, unless a script
  // began something.
  void Start() {
    sim.Start();
    sim.RunUntil(kStarted);
  }

  // A client that ignores all frames.
  PeerId AddSilentClient() {
    return sim.AddClient([](PeerId, const Bytes&) {});
  }

  std::vector<Step> StepsOf(PeerId replica) const {
    std::vector<Step> out;
    for (const Step& step : steps) {
      if (step.replica == replica) out.push_back(step);
    }
    return out;
  }

  // Every frame a replica has read, in order.
  std::vector<std::string> FramesOf(PeerId replica) const {
    std::vector<std::string> out;
    for (const Step& step : StepsOf(replica)) {
      for (const auto& [from, bytes] : step.frames) out.push_back(bytes);
    }
    return out;
  }

  void OnStep(PeerId replica, const StepInput& input, const StepOutput& output) override {
    Step step{replica, input.now, {}, input.completions, output.heap_bytes};
    for (const FrameArrival& frame : input.frames)
      step.frames.emplace_back(frame.from, *frame.bytes);
    steps.push_back(std::move(step));
  }
  void OnWorld(Time, const std::string& what) override { told.push_back(what); }

  static constexpr Time kStarted = 1ms;

  std::vector<Step> steps;
  std::vector<std::string> told;
  Simulator sim;
};

// A script that does nothing.
inline void Idle(Turn&) {}

// A script for replica 0 that calls `react` when it reads a frame; the others do nothing.
inline Script OnFrameAtZero(Script react) {
  return [react = std::move(react)](Turn& turn) {
    if (turn.self == 0 && !turn.input.frames.empty()) react(turn);
  };
}

}  // namespace depfast::sim
