// AnswerChecker on replicas that answer whatever a command asks them to.
#include "answer_checker.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "depfast/host/service.h"
#include "sim/step_host.h"
#include "submit.h"
#include "tally.h"
#include "testkit/client.h"

namespace depfast {
namespace {

constexpr const char* kCommitted = "committed";
constexpr const char* kUnknown = "unknown";
constexpr const char* kTwice = "twice";
constexpr const char* kForNobody = "for nobody";
constexpr std::uint64_t kIndex = 7;

// Answers "committed at 7", unless the command says otherwise.
class Yes final : public Service {
 public:
  explicit Yes(Runtime& runtime) : rpc_(runtime.rpc()) {}

  void Start() override {
    rpc_.HandleInline<Submit>([this](const Submit& request, const Responder<SubmitReply>& to) {
      const SubmitReply yes{SubmitStatus::kCommitted, 0, kIndex, ""};
      if (request.command == kUnknown) {
        to.Send({SubmitStatus::kUnknown, 0, kIndex, ""});
      } else if (request.command == kForNobody) {
        const FrameHeader none{FrameKind::kRequest, Submit::kMethod, 99, {}};
        Responder<SubmitReply>(&rpc_, to.peer(), none).Send(yes);
      } else {
        to.Send(yes);
        if (request.command == kTwice) to.Send(yes);
      }
    });
  }

 private:
  Rpc& rpc_;
};

// Nothing but an opinion on every answer.
class Opinion final : public LogChecker {
 public:
  std::vector<PeerId> Proposers() const override { return {}; }
  std::uint64_t AppliedUpTo(PeerId) const override { return 0; }
  std::uint64_t CommittedUpTo() const override { return 0; }
  bool HasApplied(const CommandDigest&) const override { return false; }
  std::uint64_t Restored(PeerId) const override { return 0; }
  std::size_t LogBytes(PeerId) const override { return 0; }
  bool HasSnapshot(PeerId) const override { return false; }
  std::string FirstViolation() const override { return ""; }

  std::string WhyNotCommitted(PeerId replica, std::uint64_t index,
                              const CommandDigest& command) const override {
    asked.push_back({replica, index, command});
    return opinion;
  }

  struct Asked {
    PeerId replica;
    std::uint64_t index;
    CommandDigest command;
    bool operator==(const Asked&) const = default;
  };
  mutable std::vector<Asked> asked;
  std::string opinion;
};

class AnswerCheckerTest : public testing::Test {
 protected:
  AnswerCheckerTest()
      : simulator_({.replicas = 2,
                    .profile = sim::Profile::Lab(),
                    .make_backend = sim::InProcessReplicas(
                        [](Runtime& runtime) { return std::make_unique<Yes>(runtime); })}),
        checker_(simulator_, log_, history_),
        client_(simulator_) {
    simulator_.Start();
  }

  void Ask(PeerId replica, const std::string& command) {
    client_.Call(replica, Submit{command}, 1s, [](const auto&) {});
    simulator_.RunFor(1s);
  }

  sim::Simulator simulator_;
  testkit::History history_;
  Opinion log_;
  AnswerChecker checker_;
  testkit::Client client_;
};

TEST_F(AnswerCheckerTest, TheLogJudgesEveryCommittedAnswer) {
  Ask(1, kCommitted);
  Ask(0, kUnknown);
  Ask(0, "another");
  const std::vector<Opinion::Asked> asked = {{1, kIndex, DigestOf(kCommitted)},
                                             {0, kIndex, DigestOf("another")}};
  EXPECT_EQ(log_.asked, asked);
  EXPECT_EQ(checker_.FirstViolation(), "");
}

TEST_F(AnswerCheckerTest, TheFirstUntrueAnswerIsKept) {
  log_.opinion = "it is not";
  Ask(1, kCommitted);
  const std::string first = checker_.FirstViolation();
  EXPECT_TRUE(first.starts_with("true answers violated at 0.")) << first;
  EXPECT_TRUE(
      first.ends_with(": replica 1 answers that a command is committed, but it is not "
                      "(kCommitted in labs/common/contract/submit.h)"))
      << first;
  Ask(0, kCommitted);
  EXPECT_EQ(checker_.FirstViolation(), first);
  EXPECT_EQ(history_.size(), 1u) << history_.All();
}

TEST_F(AnswerCheckerTest, AnAnswerMayComeTwiceAndBelongsToARequest) {
  Ask(0, kTwice);
  EXPECT_EQ(log_.asked.size(), 2u);
  EXPECT_EQ(checker_.FirstViolation(), "");
  Ask(0, kForNobody);
  EXPECT_NE(checker_.FirstViolation().find("but no request asked for that"), std::string::npos)
      << checker_.FirstViolation();
}

TEST_F(AnswerCheckerTest, ARequestDiesWithItsReplica) {
  for (int call = 1; call < 99; ++call) client_.Call(1, Submit{kUnknown}, 1s, [](const auto&) {});
  client_.Call(0, Submit{kCommitted}, 1s, [](const auto&) {});  // the 99th
  simulator_.RunFor(1s);
  Ask(0, kForNobody);
  EXPECT_EQ(checker_.FirstViolation(), "") << "it answers the 99th once more";
  simulator_.Crash(0);
  simulator_.Restart(0);
  Ask(0, kForNobody);
  EXPECT_NE(checker_.FirstViolation(), "") << "a restarted replica knows no request";
}

}  // namespace
}  // namespace depfast
