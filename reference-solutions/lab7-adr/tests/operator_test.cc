// The operator of lab 7's IASO-like systems: whom it stops, and when (document 004, section 6.3).
#include "operator.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "depfast/runtime.h"
#include "sim/step_host.h"

namespace depfast::adr {
namespace {

// A step each 10 ms, and no more.
class Beating final : public Service {
 public:
  explicit Beating(Runtime& runtime) : runtime_(runtime) {}
  void Start() override {
    runtime_.Spawn("beat", [this] {
      for (;;) runtime_.Sleep(10ms);
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
    simulator_.AddObserver(std::make_unique<Operator>(simulator_));
    simulator_.Start();
    simulator_.RunFor(1s);
  }

  // The replicas that are up some steps after an accusation.
  std::string UpAfter(PeerId replica, Remedy remedy) {
    TheAccusation() = Accusation{replica, remedy};
    simulator_.RunFor(50ms);
    EXPECT_FALSE(TheAccusation()) << "an accusation counts once";
    return Up();
  }

  std::string Up() const {
    std::string up;
    for (PeerId id = 0; id < 3; ++id) up += simulator_.IsUp(id) ? std::to_string(id) : "";
    return up;
  }

  sim::Simulator simulator_;
};

TEST_F(OperatorTest, RestartsTheAccusedAndThenRests) {
  EXPECT_EQ(Up(), "012") << "without an accusation";
  EXPECT_EQ(UpAfter(1, Remedy::kRestart), "02");
  simulator_.RunFor(800ms);
  EXPECT_EQ(Up(), "02");
  simulator_.RunFor(200ms);
  EXPECT_EQ(Up(), "012") << "it starts after a second";
  EXPECT_EQ(Place().replica(), 1) << "the next detectors are its";
  simulator_.RunFor(8s);
  EXPECT_EQ(UpAfter(2, Remedy::kRestart), "012") << "it rests for 10 s";
  simulator_.RunFor(1s);
  EXPECT_EQ(UpAfter(2, Remedy::kRestart), "01");
}

TEST_F(OperatorTest, StopsOneAndNoSecond) {
  EXPECT_EQ(UpAfter(0, Remedy::kShutdown), "12");
  simulator_.RunFor(2 * raft::kRestMin);
  EXPECT_EQ(UpAfter(1, Remedy::kRestart), "12") << "two are a majority";
}

}  // namespace
}  // namespace depfast::adr
