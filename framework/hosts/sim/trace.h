// Trace: a rolling hash of everything that crosses a Host, and on request the crossings as text.
//
// No test can tell two runs with equal hashes apart. The determinism contract is stated in these
// hashes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/step.h"

namespace depfast::sim {

class Trace {
 public:
  // Gets one line per crossing, in order. A line says everything that the hash covers, large data
  // by a digest, and nothing else: runs with equal hashes have equal lines.
  using Writer = std::function<void(const std::string& line)>;
  void set_writer(Writer writer) { writer_ = std::move(writer); }

  void Add(PeerId replica, const StepInput& input);
  void Add(PeerId replica, Time now, const StepOutput& output);
  // A change of the world that replicas only feel: a fault begins or ends, a crash, a restart.
  void AddWorld(Time now, const std::string& what);

  std::uint64_t hash() const { return hash_; }
  std::uint64_t crossings() const { return crossings_; }

 private:
  void Mix(std::uint64_t value);
  void MixBytes(const Bytes& bytes);
  void AddOutput(PeerId replica, Time now, const Output& output);
  void MixOutput(const SendFrame& send);
  void MixOutput(const ReleaseFrame& release);
  void MixOutput(const IoRequest& io);
  void MixOutput(const SetWake& wake);
  void MixOutput(const Observation& seen);
  void Write(PeerId replica, Time now, const std::string& text);

  std::uint64_t hash_ = 0;
  std::uint64_t crossings_ = 0;
  Writer writer_;
};

// "request method 1 call 2 for client call 3: ["text"], 17 bytes, digest 8a0f..."
std::string DescribeFrame(const Bytes& bytes);

}  // namespace depfast::sim
