// WatchRunner: shows windows to the submission's detector, and compares its findings with the plan.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "depfast/peer.h"
#include "depfast/verify/activity.h"
#include "testkit/client.h"
#include "testkit/cluster.h"
#include "window_writer.h"

namespace depfast::lab4 {

class WatchRunner {
 public:
  explicit WatchRunner(std::uint64_t seed);
  // Adds a death to the report of a test.
  ~WatchRunner();
  WatchRunner(const WatchRunner&) = delete;
  WatchRunner& operator=(const WatchRunner&) = delete;

  // A stream of its own for noise, of the test's seed.
  std::uint64_t seed(std::uint64_t stream) const;

  // The peers of the findings, by stream and window: each stream has a detector of its own. Nothing
  // if replica 0 does not report them for each stream.
  using Windows = std::vector<ActivityWindow>;
  using Findings = std::vector<std::vector<PeerId>>;
  std::optional<std::vector<Findings>> Watch(std::vector<Windows> streams);

  // Whether the findings are the spikes, window by window: each peer once, in any order. Each
  // writer's windows go to a detector of its own.
  testing::AssertionResult FindsTheSpikes(const std::vector<const WindowWriter*>& writers);
  testing::AssertionResult FindsTheSpikes(const WindowWriter& writer) {
    return FindsTheSpikes(std::vector{&writer});
  }

 private:
  const std::uint64_t seed_;
  testkit::Cluster cluster_;
  testkit::Client client_;
};

}  // namespace depfast::lab4
