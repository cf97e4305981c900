// The replica between a client and a proposer that dies: the requests that it repeats, and others.
// The replica under test is number 1 of three, the store is the reference's, and the log does as a
// test says.
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/service.h"
#include "kv_driver.h"
#include "kv_errors.h"
#include "kv_messages.h"
#include "replicated_log.h"
#include "test_support.h"

namespace depfast {
namespace {

constexpr PeerId kSelf = 1;
constexpr PeerId kClient = kFirstClient + 7;

class ScriptedLog final : public ReplicatedLog {
 public:
  explicit ScriptedLog(StateMachine& machine) : machine_(machine) {}

  void Start() override {}
  void Submit(std::string command, const Dependency&, SubmitDone done) override {
    done({SubmitStatus::kCommitted, kSelf, index_ + 1, Commit(command)});
  }
  void ReadIndex(const Dependency&, ReadDone done) override { done(true); }
  std::vector<PeerId> proposers() const override { return proposers_; }

  // A command that some proposer has committed. Returns its result.
  std::string Commit(const std::string& command) { return machine_.Apply(++index_, command); }

  std::vector<PeerId> proposers_;

 private:
  StateMachine& machine_;
  std::uint64_t index_ = 0;
};

ScriptedLog* the_log = nullptr;  // of the test under way

}  // namespace

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime&, StateMachine& machine) {
  auto log = std::make_unique<ScriptedLog>(machine);
  the_log = log.get();
  return log;
}

namespace kv {
namespace {

class KvFailover : public ::testing::Test {
 protected:
  KvFailover() {
    replica_.In([this] {
      service_ = MakeKvDriver(replica_.runtime);
      service_->Start();
    });
    the_log->proposers_ = {kSelf};
  }
  ~KvFailover() override { replica_.runtime.Shutdown(); }

  // Sends a command, and returns the number of its call.
  CallId Send(const Command& command) {
    const FrameHeader header{FrameKind::kRequest, KvRequest::kMethod, ++calls_,
                             Dependency::Client(calls_)};
    replica_.runtime.DeliverFrame(kClient, EncodeFrame(header, KvRequest{command, 0}));
    replica_.Run();
    return calls_;
  }

  // The reply to a call, in words; "(none)" if there is none.
  std::string ReplyTo(CallId call) const {
    std::string error;
    for (const auto& frame : replica_.host.sent) {
      if (frame.peer != kClient) continue;
      const auto decoded = DecodeFrame(*frame.bytes, error);
      if (!decoded || decoded->header.call != call) continue;
      const Reply reply = *DecodeBody<Reply>(decoded->body, error);
      if (reply.kind == Reply::Kind::kInteger) return std::to_string(reply.integer);
      return reply.text.substr(0, reply.text.find(' '));
    }
    return "(none)";
  }
  std::string Ask(const Command& command) { return ReplyTo(Send(command)); }

  // The commands that were forwarded to a replica.
  std::vector<Command> ForwardedTo(PeerId peer) const {
    std::vector<Command> commands;
    std::string error;
    for (const auto& frame : replica_.host.sent) {
      if (frame.peer != peer) continue;
      const auto decoded = DecodeFrame(*frame.bytes, error);
      commands.push_back(DecodeBody<KvRequest>(decoded->body, error)->command);
    }
    return commands;
  }

  void SetLink(PeerId peer, bool is_up) {
    replica_.runtime.DeliverLink(peer, is_up);
    replica_.Run();
  }

  // The proposer, to which commands went, is lost. A while later this replica proposes.
  void TakeOver() {
    SetLink(0, false);
    the_log->proposers_ = {kSelf};
    replica_.Advance(100ms);
  }

  testing::Replica replica_{RuntimeOptions{.self = kSelf, .replicas = 3}};
  std::unique_ptr<Service> service_;
  CallId calls_ = 0;
};

TEST_F(KvFailover, AForwardedCommandEndsWithItsProposer) {
  the_log->proposers_ = {0};
  const CallId write = Send({"INCR", "n"});
  EXPECT_EQ(ForwardedTo(0), (std::vector<Command>{{"INCR", "n"}}));
  SetLink(2, false);
  EXPECT_EQ(ReplyTo(write), "(none)") << "another replica is lost";
  SetLink(0, false);
  EXPECT_EQ(ReplyTo(write), "UNKNOWN");
}

TEST_F(KvFailover, AWriteOutsideASessionIsNotAskedAgain) {
  ASSERT_EQ(Ask({"SET", "n", "1"}), "OK");
  the_log->proposers_ = {0};
  const std::vector<Command> commands = {
      {"INCR", "n"}, {"CAS", "n", "2", "3"}, {"APPEND", "n", "0"}};
  std::vector<CallId> calls;
  for (const Command& command : commands) {
    calls.push_back(Send(command));
    the_log->Commit(EncodeCommand(command));  // by the proposer, before it dies
  }
  TakeOver();
  replica_.Advance(5s);
  ASSERT_FALSE(calls.empty());
  for (const CallId call : calls) EXPECT_EQ(ReplyTo(call), "UNKNOWN");
  EXPECT_EQ(Ask({"GET", "n"}), "30");
}

// A stopped proposer keeps its connections, but the others elect another one.
TEST_F(KvFailover, AForwardedCommandEndsWhenAnotherReplicaProposesInstead) {
  SetLink(0, true);
  the_log->proposers_ = {0};
  const CallId write = Send({"INCR", "n"});
  the_log->proposers_ = {};  // the election
  replica_.Advance(500ms);
  EXPECT_EQ(ReplyTo(write), "(none)") << "the proposer may still answer";
  the_log->proposers_ = {2};
  replica_.Advance(50ms);
  EXPECT_EQ(ReplyTo(write), "UNKNOWN");
  EXPECT_TRUE(ForwardedTo(2).empty());
}

TEST_F(KvFailover, AForwardedCommandWaitsForItsProposer) {
  the_log->proposers_ = {0};
  const CallId write = Send({"INCR", "n"});
  the_log->proposers_ = {2};
  replica_.Advance(500ms);
  // A simulated network has no connections. There a command is in the log as often as clients ask.
  EXPECT_EQ(ReplyTo(write), "(none)") << "without connections";
  SetLink(0, true);
  the_log->proposers_ = {0};
  const CallId next = Send({"INCR", "n"});
  the_log->proposers_ = {2, 0};
  replica_.Advance(500ms);
  EXPECT_EQ(ReplyTo(next), "(none)") << "it is one of several";
}

TEST_F(KvFailover, WhatTakesEffectOnceIsAskedAgainWhenAnotherReplicaProposesInstead) {
  SetLink(0, true);
  const std::string session = Ask({"SESSION", "NEW"});
  the_log->proposers_ = {0};
  const Command was_done = {"SESSION", session, "1", "INCR", "n"};
  const CallId write = Send(was_done);
  const CallId read = Send({"GET", "n"});
  the_log->Commit(EncodeCommand(was_done));
  the_log->proposers_ = {kSelf};
  replica_.Advance(50ms);
  EXPECT_EQ(ReplyTo(write), "1");
  EXPECT_EQ(ReplyTo(read), "1");
}

TEST_F(KvFailover, AWriteInASessionIsAskedAgainAndTakesEffectOnce) {
  const std::string session = Ask({"SESSION", "NEW"});
  the_log->proposers_ = {0};
  const Command was_done = {"SESSION", session, "1", "INCR", "n"};
  const CallId done = Send(was_done);
  the_log->Commit(EncodeCommand(was_done));
  SetLink(0, false);
  EXPECT_EQ(ReplyTo(done), "(none)") << "it waits for a proposer";
  the_log->proposers_ = {kSelf};
  replica_.Advance(100ms);
  EXPECT_EQ(ReplyTo(done), "1");
  EXPECT_EQ(Ask({"GET", "n"}), "1");
}

TEST_F(KvFailover, ALostCommandIsAskedAgainIfThatIsSafe) {
  ASSERT_EQ(Ask({"SET", "x", "here"}), "OK");
  const std::string session = Ask({"SESSION", "NEW"});
  the_log->proposers_ = {0};
  const CallId write = Send({"SESSION", session, "1", "INCR", "n"});
  const CallId read = Send({"GET", "x"});
  const CallId opens = Send({"session", "new"});
  // Its session may have expired after the command was executed.
  const CallId expired = Send({"SESSION", "12345", "1", "INCR", "n"});
  TakeOver();
  EXPECT_EQ(ReplyTo(write), "1") << "nobody committed it before";
  EXPECT_EQ(ReplyTo(read), "here");
  EXPECT_EQ(ReplyTo(opens), "UNKNOWN") << "a session is not opened twice";
  EXPECT_EQ(ReplyTo(expired), "UNKNOWN");
  EXPECT_EQ(Ask({"SESSION", "12345", "2", "INCR", "n"}), "NOSESSION");
}

TEST_F(KvFailover, NewCommandsWaitForAProposerAndKeepTheirOrder) {
  SetLink(0, false);
  the_log->proposers_ = {0};  // the replica has not noticed yet
  std::vector<CallId> calls;
  for (const char* const value : {"1", "2", "3"}) calls.push_back(Send({"APPEND", "x", value}));
  the_log->proposers_ = {};  // the election
  calls.push_back(Send({"APPEND", "x", "4"}));
  replica_.Advance(500ms);
  for (const CallId call : calls) EXPECT_EQ(ReplyTo(call), "(none)");
  EXPECT_TRUE(ForwardedTo(0).empty());
  the_log->proposers_ = {kSelf};
  calls.push_back(Send({"APPEND", "x", "5"}));
  EXPECT_EQ(ReplyTo(calls.back()), "(none)") << "it overtakes the others";
  replica_.Advance(100ms);
  for (std::size_t i = 0; i < calls.size(); ++i)
    EXPECT_EQ(ReplyTo(calls[i]), std::to_string(i + 1));
  EXPECT_EQ(Ask({"GET", "x"}), "12345");
}

TEST_F(KvFailover, ACommandIsNotSentToAProposerThatIsLostInTheSameStep) {
  the_log->proposers_ = {0};
  const FrameHeader header{FrameKind::kRequest, KvRequest::kMethod, ++calls_, {}};
  replica_.runtime.DeliverFrame(kClient, EncodeFrame(header, KvRequest{{"INCR", "n"}, 0}));
  SetLink(0, false);
  EXPECT_TRUE(ForwardedTo(0).empty());
  EXPECT_EQ(ReplyTo(calls_), "TRYAGAIN");
}

TEST_F(KvFailover, AProposerThatIsBackIsAsked) {
  SetLink(0, false);
  the_log->proposers_ = {0};
  Send({"SET", "x", "1"});
  EXPECT_TRUE(ForwardedTo(0).empty());
  SetLink(0, true);
  replica_.Advance(100ms);
  EXPECT_EQ(ForwardedTo(0), (std::vector<Command>{{"SET", "x", "1"}}));
}

TEST_F(KvFailover, WithoutALostReplicaNothingWaits) {
  the_log->proposers_ = {};
  EXPECT_EQ(Ask({"SET", "x", "1"}), "TRYAGAIN");
}

TEST_F(KvFailover, AWaitEndsWithTheTruth) {
  const std::string session = Ask({"SESSION", "NEW"});
  the_log->proposers_ = {0};
  const CallId asked = Send({"SESSION", session, "1", "INCR", "n"});
  SetLink(0, false);
  const CallId fresh = Send({"INCR", "n"});
  replica_.Advance(1s);
  EXPECT_EQ(ReplyTo(asked), "(none)");
  EXPECT_EQ(ReplyTo(fresh), "(none)");
  replica_.Advance(5s);
  EXPECT_EQ(ReplyTo(asked), "UNKNOWN") << "the proposer may have committed it";
  EXPECT_EQ(ReplyTo(fresh), "TRYAGAIN") << "nobody was asked";
}

}  // namespace
}  // namespace kv
}  // namespace depfast
