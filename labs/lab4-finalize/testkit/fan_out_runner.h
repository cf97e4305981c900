// FanOutRunner: a cluster whose replica 0 performs fan-outs, and what they leave behind.
//
//   FanOutRunner runner({.replicas = 3, .seed = 7});
//   const auto reports = runner.Run({{.needed = 1, .plan = {{}, After(40ms)}, .wait_ns = Ns(1s),
//                                     .grace_ns = Ns(100ms)}}, 500ms);
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "depfast/time.h"
#include "fan_out.h"
#include "sim/observer.h"
#include "testkit/client.h"
#include "testkit/cluster.h"

namespace depfast::lab4 {

inline std::int64_t Ns(Duration time) { return time.count(); }

// A peer that answers so after `delay`.
inline PeerPlan After(Duration delay, PeerPlan::Answer answer = PeerPlan::Answer::kYes) {
  return {answer, delay.count()};
}
inline constexpr PeerPlan kSilent = {PeerPlan::Answer::kNothing, 0};

// A message and its answer take less than this beyond the peer's delay, and so does a step.
inline constexpr Duration kSoon = 5ms;

// Whether `moment` is `expected`, or within kSoon after it.
testing::AssertionResult IsAt(std::int64_t moment, Duration expected);

// Whether the call ended so, at that time.
testing::AssertionResult Ended(const CallReport& call, CallReport::End end, Duration expected);

class FanOutRunner : private sim::Observer {
 public:
  // The replicas are started. `options.probes` is the runner's.
  explicit FanOutRunner(testkit::ClusterOptions options);
  // Adds a death to the report of a test.
  ~FanOutRunner() override;
  FanOutRunner(const FanOutRunner&) = delete;
  FanOutRunner& operator=(const FanOutRunner&) = delete;

  // Replica 0 performs the fan-outs until `until`. One report for each. If replica 0 does
  // not answer, or reports answers that no message has brought, the test has failed. Without an
  // answer the reports say that nothing has ended.
  std::vector<FanOutReport> Run(const std::vector<FanOut>& fan_outs, Duration until);

  // Frames of fan-outs that replica 0 took back before they were on the wire.
  std::size_t frames_released() const { return frames_released_; }
  // The coroutines of replica 0 that have not ended, beyond those at the start of the latest Run.
  std::int64_t coroutines();
  // The heap of replica 0 in its latest step, in bytes; 0 if it does not run in its own process.
  std::uint64_t heap_bytes() const { return heap_bytes_; }
  // The calls of fan-outs that are outstanding.
  std::uint64_t outstanding_calls();

  testkit::Cluster cluster;

 private:
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override;
  // The first one of its kind counts.
  void OnMoment(const Observation& said, Time now);
  // The replica that reports is the submission's: what its peers have sent is a fact.
  void ExpectAnswersCame(const std::vector<FanOutReport>& reports) const;
  std::vector<FanOutReport> NothingEnded(const std::vector<FanOut>& fan_outs) const;

  testkit::Client client_;
  std::vector<FanOutReport> seen_;  // moments of the latest Run
  std::uint64_t first_ = 0;         // the number of its first fan-out
  Time begun_{};                    // its begin
  std::size_t frames_released_ = 0;
  std::size_t answers_ = 0;  // to fan-outs, that have come to replica 0 in the latest Run
  std::uint64_t heap_bytes_ = 0;
  std::uint64_t coroutines_before_ = 0;
};

}  // namespace depfast::lab4
