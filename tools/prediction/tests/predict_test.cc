// The parts of predict_raft: a machine's costs from a file, and the load generator's own core.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "client_core.h"
#include "predict_profile.h"
#include "sim/simulator.h"
#include "sim/step.h"

namespace depfast::predict {
namespace {

// ---- profiles ----

std::string Sample() {
  std::ostringstream text;
  text << std::ifstream(SAMPLE_MACHINE).rdbuf();
  return text.str();
}

Machine ReadText(const std::string& text) {
  const std::string path = testing::TempDir() + "/predict_test_machine.json";
  std::ofstream(path) << text;
  const Machine machine = ReadMachine(path);
  std::remove(path.c_str());
  return machine;
}

std::string Replaced(const std::string& what, const std::string& with) {
  std::string text = Sample();
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

// Why the sample, with something replaced, is refused.
std::string Refusal(const std::string& what, const std::string& with) {
  try {
    ReadText(Replaced(what, with));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "it is not refused";
}

TEST(Profile, IsRead) {
  const Machine machine = ReadMachine(SAMPLE_MACHINE);
  EXPECT_EQ(machine.profile.cpu.per_step, 8206ns);
  EXPECT_EQ(machine.profile.cpu.per_observation, 217ns);
  EXPECT_EQ(machine.profile.cpu.frames_per_connection_max, 256U);
  EXPECT_EQ(machine.profile.disk.sync, 118445ns);
  EXPECT_EQ(machine.profile.disk.sync_jitter.tail_factor, 19);
  EXPECT_EQ(machine.profile.disk.waits_per_batch, 4);
  EXPECT_EQ(machine.profile.net.bytes_per_second, 1'000'000'000'000);
  EXPECT_EQ(machine.client.per_turn, 26864ns);
}

TEST(Profile, ThatIsNoneIsRefusedInOneLine) {
  EXPECT_EQ(Refusal("\"per_step_ns\"", "\"per_stop_ns\""), "'cpu.per_step_ns' is missing");
  EXPECT_EQ(Refusal("\"wake_ns\": 5353,", "\"wake_ns\": 5353, \"nap_ns\": 1,"),
            "'cpu.nap_ns' is unknown");
  EXPECT_EQ(Refusal("\"client\"", "\"clients\""), "'client' is missing");
  EXPECT_EQ(Refusal("8206", "-1"),
            "'cpu.per_step_ns' is '-1', which is not a whole number below 10^15");
  EXPECT_EQ(Refusal("8206", "1.5"),
            "'cpu.per_step_ns' is '1.5', which is not a whole number below 10^15");
  EXPECT_EQ(Refusal("8206", "1000000000000000"),
            "'cpu.per_step_ns' is '1000000000000000', which is not a whole number below 10^15");
  EXPECT_EQ(Refusal("\"waits_per_batch\": 4", "\"waits_per_batch\": 0"),
            "'disk.waits_per_batch' is 0");
  EXPECT_EQ(Refusal("32768", "0"), "'cpu.frames_per_step_max' is 0");
  EXPECT_TRUE(Refusal("{", "[").starts_with("cannot read the profile: ")) << Refusal("{", "[");
  EXPECT_THROW(ReadMachine("/nowhere/machine.json"), std::invalid_argument);
}

// ---- the client's core ----

class NoReplica final : public sim::ReplicaBackend {
 public:
  sim::StepOutput Step(const sim::StepInput&) override { return {}; }
  std::string DumpCoroutines() override { return ""; }
  std::string Report(const std::string&) override { return ""; }
};

// Operations that take 1 ms by themselves.
class ClientCoreTest : public testing::Test {
 protected:
  ClientCoreTest()
      : core_(simulator_, {.per_turn = 20us, .per_operation = 6us, .wake = 7us},
              [this](std::function<void(bool)> done) {
                sent_.push_back(simulator_.now());
                const bool ok = sent_.size() != 3;  // the third fails
                simulator_.At(simulator_.now() + 1ms, [done, ok] { done(ok); });
              }) {}

  void Start() {
    operation_([this](bool ok) {
      ended_.push_back(simulator_.now());
      all_ok_ = all_ok_ && ok;
    });
  }

  sim::Simulator simulator_{{.replicas = 1, .profile = {}, .make_backend = [](const auto&) {
                               return std::make_unique<NoReplica>();
                             }}};
  ClientCore core_;
  testkit::Operation operation_ = core_.Operations();
  std::vector<Time> sent_;
  std::vector<Time> ended_;
  bool all_ok_ = true;
};

using Times = std::vector<Time>;

TEST_F(ClientCoreTest, ATurnWakesHandsOutAndSends) {
  simulator_.At(1ms, [this] { Start(); });
  simulator_.RunUntil(10ms);
  // 7 us to wake up; 10 us to find that nothing has ended; 10 us and 3 us to send.
  const Time sent = 1ms + 30us;
  EXPECT_EQ(sent_, Times{sent});
  EXPECT_EQ(ended_, Times{sent + 1ms + 7us + 10us + 3us});
}

TEST_F(ClientCoreTest, ATurnTakesAllThatIsThere) {
  simulator_.At(1ms, [this] {
    Start();
    Start();
  });
  simulator_.At(1ms + 16us, [this] { Start(); });  // while the turn looks for ends
  simulator_.At(1ms + 18us, [this] { Start(); });  // while it sends
  simulator_.RunUntil(10ms);
  const Time first = 1ms + 17us + 10us + 3 * 3us;
  const Time second = first + 10us + 10us + 3us;
  EXPECT_EQ(sent_, (Times{first, first, first, second})) << "without a wake-up between them";
  const Time ended = first + 1ms + 7us + 10us + 3 * 3us;
  EXPECT_EQ(ended_, (Times{ended, ended, ended, ended + 10us + 10us + 3us}));
  EXPECT_FALSE(all_ok_) << "failures are handed out, too";
}

TEST_F(ClientCoreTest, ACommandStartedByAnAnswerIsSentInTheSameTurn) {
  Time again{0};
  simulator_.At(1ms, [&] {
    operation_([&](bool) {
      again = simulator_.now();
      Start();
    });
  });
  simulator_.RunUntil(10ms);
  EXPECT_EQ(sent_, (Times{1ms + 30us, again + 10us + 3us}));
}

}  // namespace
}  // namespace depfast::predict
