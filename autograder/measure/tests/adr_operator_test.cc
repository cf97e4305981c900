// The operator of lab 7's IASO-like systems: whom it stops, and when (document 004, section 6.3).
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "depfast/runtime.h"
#include "operator.h"
#include "sim/step_host.h"

namespace depfast::adr {
namespace {

constexpr Duration kStep = 10ms;  // of each replica

// Steps of its own, and no more.
class Beating final : public Service {
 public:
  explicit Beating(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.Spawn("beat", [this] {
      for (;;) runtime_.Sleep(kStep);
    });
  }

 private:
  Runtime& runtime_;
};

class OperatorTest : public testing::Test {
 protected:
  OperatorTest()
      : simulator_({.replicas = 3,
                    .profile = sim::Profile::Lab(),
                    .make_backend = sim::InProcessReplicas(
                        [](Runtime& runtime) { return std::make_unique<Beating>(runtime); })}) {
    TheAccusation().reset();
    simulator_.AddObserver(std::make_unique<Operator>(simulator_));
    simulator_.Start();
    simulator_.RunFor(1s);
  }

  // The replicas that are up some steps after an accusation.
  std::vector<PeerId> UpAfter(PeerId replica, Remedy remedy) {
    TheAccusation() = Accusation{replica, remedy};
    simulator_.RunFor(5 * kStep);
    EXPECT_FALSE(TheAccusation()) << "an accusation counts once";
    return Up();
  }

  std::vector<PeerId> Up() const {
    std::vector<PeerId> up;
    for (const PeerId replica : {0, 1, 2}) {
      if (simulator_.IsUp(replica)) up.push_back(replica);
    }
    return up;
  }

  const std::vector<PeerId> all_ = {0, 1, 2};
  sim::Simulator simulator_;
};

TEST_F(OperatorTest, RestartsTheAccusedAndThenRests) {
  EXPECT_EQ(Up(), all_) << "without an accusation";
  EXPECT_EQ(UpAfter(1, Remedy::kRestart), (std::vector<PeerId>{0, 2}));
  simulator_.RunFor(800ms);
  EXPECT_EQ(Up(), (std::vector<PeerId>{0, 2})) << "it starts after a second";
  simulator_.RunFor(200ms);
  EXPECT_EQ(Up(), all_);
  EXPECT_EQ(Place().replica(), 1) << "the next detectors are its";
  simulator_.RunFor(8s);
  EXPECT_EQ(UpAfter(2, Remedy::kRestart), all_) << "it rests for 10 s";
  simulator_.RunFor(1s);
  EXPECT_EQ(UpAfter(2, Remedy::kRestart), (std::vector<PeerId>{0, 1}));
}

TEST_F(OperatorTest, StopsOneAndNoSecond) {
  EXPECT_EQ(UpAfter(0, Remedy::kShutdown), (std::vector<PeerId>{1, 2}));
  simulator_.RunFor(raft::kRestMin + raft::kRestMin);
  EXPECT_EQ(UpAfter(1, Remedy::kRestart), (std::vector<PeerId>{1, 2})) << "two are a majority";
}

}  // namespace
}  // namespace depfast::adr
