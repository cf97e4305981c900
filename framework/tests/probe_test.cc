// Probes: the calls that they receive, their number and their order.
#include "depfast/host/probe.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "depfast/broadcast.h"
#include "depfast/host/frame.h"
#include "depfast/processor_meter.h"
#include "depfast/rpc.h"
#include "depfast/value_event.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Log;
using testing::Replica;

// Writes down all that it hears.
class Listener : public RuntimeProbe {
 public:
  void OnStart(const Runtime& runtime) override {
    log.push_back("start of " + std::to_string(runtime.self()));
  }
  void OnSpawn(const Runtime&, const Task& task) override {
    if (spawns) log.push_back("spawn " + Of(task));
  }
  void OnEnd(const Runtime&, const Task& task) override {
    if (spawns) log.push_back("end " + Of(task));
  }
  void OnCall(const Runtime&, const Task& task, const RpcCall& call) override {
    log.push_back("call " + Of(task) + ": " + call.Describe());
  }
  void OnReply(const Runtime&, const RpcCall& call) override {
    log.push_back("reply " + call.Describe() + ": " +
                  (call.IsReady() ? "answered" : ToString(call.error())));
  }
  void OnRelease(const Runtime&, const RpcCall& call) override {
    log.push_back("release " + call.Describe());
  }
  void OnStrayReply(const Runtime&, PeerId from, CallId) override {
    log.push_back("stray reply of " + std::to_string(from));
  }
  void OnAnswer(const Runtime&, PeerId peer, const Dependency& dependency) override {
    log.push_back("answer to " + std::to_string(peer) + " for " + std::to_string(dependency.id));
  }
  void OnWait(const Runtime& runtime, const Task& task, const Event& event) override {
    log.push_back("wait " + Of(task) + ": " + event.Label() + At(runtime));
  }
  void OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                 Outcome outcome) override {
    log.push_back("woke " + Of(task) + ": " + event.Label() + " " + ToString(outcome) +
                  At(runtime));
  }
  void OnStepEnd(const Runtime&, const StepUsage& usage) override {
    log.push_back("step at " + std::to_string(usage.began.count()) + " cost " +
                  std::to_string(usage.cost.count()) + " took " +
                  std::to_string(usage.took.count()));
  }
  bool WantsUsage() const override { return wants_usage; }

  Log log;
  bool spawns = false;  // whether the log has spawns and ends
  bool wants_usage = true;

 private:
  static std::string Of(const Task& task) {
    return task.id == 0 ? "nobody" : std::to_string(task.id) + " '" + task.name + "'";
  }
  static std::string At(const Runtime& runtime) {
    return " at " + std::to_string(runtime.Now() / 1ms);
  }
};

class ProbeTest : public ::testing::Test {
 protected:
  Runtime& runtime() { return replica_.runtime; }

  // The answer to the request that was sent last to that peer.
  std::string AnswerOf(PeerId peer, FrameKind kind = FrameKind::kReply) {
    for (auto frame = replica_.host.sent.rbegin(); frame != replica_.host.sent.rend(); ++frame) {
      if (frame->peer != peer) continue;
      std::string error;
      FrameHeader header = DecodeFrame(*frame->bytes, error)->header;
      header.kind = kind;
      if (kind == FrameKind::kReply) return EncodeFrame(header, TextReply{});
      return EncodeFrame(header, static_cast<std::uint32_t>(RpcError::kRejected));
    }
    return "";
  }

  void Deliver(PeerId from, const std::string& bytes) {
    replica_.runtime.DeliverFrame(from, bytes);
    replica_.Run();
  }

  Listener heard_;
  Replica replica_{RuntimeOptions{.replicas = 3, .probes = {&heard_}}};
};

TEST_F(ProbeTest, HearsOfSpawnAndEndInOrder) {
  heard_.spawns = true;
  replica_.Spawn("outer", [&] {
    runtime().Spawn("inner", [] {});
    runtime().Yield();
  });
  replica_.Run();
  EXPECT_EQ(heard_.log,
            (Log{"spawn 1 'outer'", "spawn 2 'inner'", "end 2 'inner'", "end 1 'outer'"}));
}

TEST_F(ProbeTest, HearsOfAWaitAndItsEnd) {
  const auto event = replica_.Make<IntEvent>("votes", 1);
  replica_.Go([&] {
    event->Wait(2ms);
    event->Wait();
    event->Wait();  // returns at once: no wait
  });
  replica_.Advance(3ms);
  replica_.Do([&] { event->Set(1); });
  EXPECT_EQ(heard_.log, (Log{"wait 1 'test': votes at 0", "woke 1 'test': votes timed out at 2",
                             "wait 1 'test': votes at 2", "woke 1 'test': votes ready at 3"}));
}

TEST_F(ProbeTest, HearsOfACallAndItsReplyBeforeTheWaiterWakes) {
  replica_.Go([&] { runtime().rpc().Call(1, Echo{})->Wait(); });
  Deliver(1, AnswerOf(1));
  EXPECT_EQ(heard_.log,
            (Log{"call 1 'test': RpcEvent Echo -> 1", "wait 1 'test': Echo at 0",
                 "reply RpcEvent Echo -> 1: answered", "woke 1 'test': Echo ready at 0"}));
}

TEST_F(ProbeTest, HearsOfAFailureOnce) {
  replica_.Go([&] {
    runtime().rpc().Call(1, Echo{});
    runtime().rpc().Call(2, Echo{}, 5ms);
  });
  Deliver(1, AnswerOf(1, FrameKind::kError));
  replica_.Advance(5ms);
  EXPECT_EQ(heard_.log,
            (Log{"call 1 'test': RpcEvent Echo -> 1", "call 1 'test': RpcEvent Echo -> 2",
                 std::string("reply RpcEvent Echo -> 1: ") + ToString(RpcError::kRejected),
                 std::string("reply RpcEvent Echo -> 2: ") + ToString(RpcError::kTimedOut)}));
}

TEST_F(ProbeTest, HearsOfAReleaseOfWhatIsOutstandingAndOfTheLateReply) {
  std::unique_ptr<Broadcast<Echo>> broadcast;
  replica_.Go([&] {
    broadcast = std::make_unique<Broadcast<Echo>>(runtime().rpc(), runtime().peers(), Echo{});
  });
  Deliver(1, AnswerOf(1));
  heard_.log.clear();
  replica_.In([&] { broadcast->Release(); });
  Deliver(2, AnswerOf(2));
  EXPECT_EQ(heard_.log, (Log{"release RpcEvent Echo -> 2", "stray reply of 2"}));
}

TEST_F(ProbeTest, ACallOutsideACoroutineIsNobodys) {
  replica_.In([&] { runtime().rpc().Call(1, Echo{}); });
  EXPECT_EQ(heard_.log, (Log{"call nobody: RpcEvent Echo -> 1"}));
}

TEST_F(ProbeTest, HearsOfTheStartAndOfWhatAStepUsed) {
  replica_.runtime.Start([] {});
  replica_.runtime.StepEnded({3ns, 4ns, 5ns});
  EXPECT_EQ(heard_.log, (Log{"start of 0", "step at 3 cost 4 took 5"}));
}

TEST_F(ProbeTest, AReplicaMetersItsOwnSteps) {
  heard_.wants_usage = false;
  const ProcessorMeter meter(runtime());
  EXPECT_TRUE(replica_.runtime.wants_usage());
  replica_.runtime.StepEnded({3ns, 4ns, 5ns});
  replica_.runtime.StepEnded({9ns, 1ns, 20ns});
  EXPECT_EQ(meter.cost(), 5ns);
  EXPECT_EQ(meter.took(), 25ns);
}

TEST_F(ProbeTest, HearsNothingOfStepsIfItWantsNoUsage) {
  EXPECT_TRUE(replica_.runtime.wants_usage());
  heard_.wants_usage = false;
  EXPECT_FALSE(replica_.runtime.wants_usage());
  replica_.runtime.StepEnded({3ns, 4ns, 5ns});
  EXPECT_EQ(heard_.log, Log{});
}

TEST_F(ProbeTest, HearsNothingOfTheEndOfTheReplica) {
  heard_.spawns = true;
  replica_.Go([&] { runtime().Sleep(1h); });
  heard_.log.clear();
  replica_.runtime.Shutdown();
  EXPECT_TRUE(heard_.log.empty());
}

TEST(Probes, AllHearInTheirOrder) {
  struct Numbered : RuntimeProbe {
    Numbered(Log& to, int which) : log(to), number(which) {}
    void OnSpawn(const Runtime&, const Task& task) override {
      log.push_back(std::to_string(number) + " " + task.name);
    }
    Log& log;
    int number;
  };
  Log log;
  Numbered one(log, 1);
  Numbered two(log, 2);
  Replica replica({.probes = {&one, &two}});
  replica.Spawn("a", [] {});
  replica.Spawn("b", [] {});
  EXPECT_EQ(log, (Log{"1 a", "2 a", "1 b", "2 b"}));
}

TEST_F(ProbeTest, HearsOfAnswersAndTheirDependencies) {
  ServeEcho(runtime().rpc());
  const FrameHeader echo{FrameKind::kRequest, Echo::kMethod, 1, Dependency::Client(7)};
  Deliver(kFirstClient, EncodeFrame(echo, Echo{"heard?"}));
  const FrameHeader unknown{FrameKind::kRequest, Echo::kMethod + 1, 2, Dependency::Client(8)};
  Deliver(kFirstClient + 1, EncodeFrame(unknown, Echo{}));
  EXPECT_EQ(heard_.log, (Log{"answer to 1000 for 7", "answer to 1001 for 8"}))
      << "an error is an answer";
}

TEST_F(ProbeTest, ATaskCarriesItsDependency) {
  struct Dependent : RuntimeProbe {
    void OnSpawn(const Runtime&, const Task& task) override { seen = task.dependency; }
    Dependency seen;
  };
  Dependent probe;
  Replica replica({.probes = {&probe}});
  replica.Go([&] {
    replica.runtime.set_dependency(Dependency::Client(7));
    replica.runtime.Spawn("works for the client", [] {});
  });
  EXPECT_EQ(probe.seen, Dependency::Client(7));
}

}  // namespace
}  // namespace depfast
