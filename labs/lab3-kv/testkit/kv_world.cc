#include "kv_world.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "safety.h"
#include "testkit/judged.h"
#include "testkit/violation.h"

namespace depfast::kv {
namespace {

constexpr const char* kAudited = "snapshots hold everything";
constexpr std::uint64_t kCheckerSteps = 2'000'000;

// Adds to a number in the test's results: a test may have several worlds.
void AddToResults(const std::string& name, std::size_t more) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  if (info == nullptr) return;
  std::size_t sum = more;
  for (int i = 0; i < info->result()->test_property_count(); ++i) {
    const testing::TestProperty& property = info->result()->GetTestProperty(i);
    if (property.key() == name) sum += std::stoull(property.value());
  }
  testing::Test::RecordProperty(name, std::to_string(sum));
}

}  // namespace

KvWorld::KvWorld(const testkit::ClusterOptions& options, Snapshots snapshots)
    : LogWorld(options, MakeLogChecker),
      client(cluster.simulator()),
      checker_(cluster.simulator(), log(), cluster.history()),
      auditor_(cluster.simulator()) {
  if (snapshots == Snapshots::kAudited) {
    audit_ = std::make_unique<SnapshotAudit>();
    checker_.set_on_entry([this](std::uint64_t index, const Command& command, const Reply& reply) {
      audit_->AddEntry(index, command, reply);
    });
  }
  cluster.Start();
}

KvWorld::~KvWorld() {
  for (const std::string& violation : {audit_problem_, checker_.FirstViolation()}) {
    if (violation.empty()) continue;
    ADD_FAILURE() << violation;
    testkit::RecordOtherViolation(violation);
  }
  auto breaks = checker_.breaks();
  if (audit_ != nullptr && audit_->states_differ()) breaks = Safety::kEqualStates;
  if (breaks) testkit::RecordSafetyViolation(ToString(*breaks));
}

PeerId KvWorld::WaitForProposer(Duration at_most) {
  const PeerId proposer = LogWorld::WaitForProposer(at_most);
  if (proposer != kNobody) Audit();
  return proposer;
}

void KvWorld::Audit() {
  if (audit_ == nullptr) return;
  constexpr Duration kAtMost = 2s;
  int left = 0;
  snapshot_bytes_ = 0;
  for (PeerId id = 0; id < cluster.replicas(); ++id) {
    if (!cluster.simulator().IsUp(id)) continue;
    ++left;
    auditor_.Call(id, KvAudit{}, kAtMost,
                  [this, id, &left, applied = log().AppliedUpTo(id)](const auto& reply) {
                    --left;
                    OnAudit(id, applied, reply);
                  });
  }
  cluster.RunUntil([&] { return left == 0; }, 2 * kAtMost);
  for (PeerId id = 0; id < cluster.replicas(); ++id) AuditDisk(id);
}

// The log may have taken its snapshot in pieces.
void KvWorld::AuditDisk(PeerId replica) {
  const auto stored = log().SnapshotOf(replica);
  if (!stored) return;
  const std::string problem = audit_->WhyNot(stored->index, stored->state);
  if (problem.empty()) return;
  AddAuditProblem(replica, " has a snapshot of index " + std::to_string(stored->index) +
                               " on its disk, but " + problem);
}

void KvWorld::OnAudit(PeerId replica, std::uint64_t applied,
                      const std::optional<KvAuditReply>& reply) {
  if (!reply) {
    if (cluster.simulator().IsUp(replica)) AddAuditProblem(replica, " does not answer an audit");
    return;
  }
  if (!reply->error.empty()) {
    AddAuditProblem(replica, ": a snapshot cannot be taken: " + reply->error);
    return;
  }
  snapshot_bytes_ = std::max(snapshot_bytes_, reply->snapshot.size());
  std::string problem;
  if (!log().NumbersEntries()) {
    problem = audit_->WhyNotRestored(reply->snapshot);
  } else if (applied == log().AppliedUpTo(replica)) {  // else it answered after an unknown entry
    problem = audit_->WhyNot(applied, reply->snapshot);
  }
  if (problem.empty()) return;
  AddAuditProblem(replica,
                  " has a snapshot after index " + std::to_string(applied) + ", but " + problem);
}

void KvWorld::AddAuditProblem(PeerId replica, const std::string& what) {
  if (!audit_problem_.empty()) return;
  testkit::RecordJudged({kAudited, replica, cluster.now()});
  audit_problem_ = testkit::ViolationSentence(kAudited, cluster.now(),
                                              "replica " + std::to_string(replica) + what,
                                              "rule 7 of lab 3's handout");
}

testing::AssertionResult KvWorld::AllInvariantsHold() {
  WaitForAllApplied(1s);
  Audit();
  if (const auto held = LogWorld::AllInvariantsHold(); !held) return held;
  if (checker_.FirstViolation().empty() && audit_problem_.empty()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "the end of this report says why";  // the destructor does
}

Reply KvWorld::Await(const std::function<void(KvClient::Done)>& start) {
  constexpr Duration kAtMost = 10s;
  const auto outcome = std::make_shared<std::optional<KvOutcome>>();
  start([outcome](const KvOutcome& ended) { *outcome = ended; });
  cluster.RunUntil([&] { return outcome->has_value(); }, kAtMost);
  if (!outcome->has_value() || !(*outcome)->is_known()) return Reply::Error("TEST no reply");
  return *(*outcome)->reply;
}

Reply KvWorld::Do(const Command& command) {
  return Await([&](KvClient::Done done) { client.Execute(command, std::move(done)); });
}

Reply KvWorld::DoAt(PeerId replica, const Command& command) {
  return Await([&](KvClient::Done done) { client.Ask(replica, command, std::move(done)); });
}

Reply KvWorld::DoInSession(std::int64_t session, std::uint64_t sequence, const std::string& line) {
  return DoInSession({"SESSION", std::to_string(session), std::to_string(sequence)}, Words(line));
}

Reply KvWorld::DoInSession(Command prefix, const Command& command) {
  prefix.insert(prefix.end(), command.begin(), command.end());
  return Await([&](KvClient::Done done) { client.ExecuteInSession(prefix, std::move(done)); });
}

std::int64_t KvWorld::OpenSession(std::uint64_t entries) {
  const Reply reply =
      Do(entries == 0 ? Words("SESSION NEW") : Words("SESSION NEW " + std::to_string(entries)));
  return reply.kind == Reply::Kind::kInteger ? reply.integer : -1;
}

void KvWorld::Start(KvClient& from, int who, const Command& command,
                    std::function<void(const KvOutcome&)> then) {
  const std::size_t number = operations_.size();
  operations_.push_back({who, ParsedCommand(command), cluster.now(), std::nullopt});
  from.Execute(command, [this, number, then = std::move(then)](const KvOutcome& outcome) {
    if (outcome.is_known()) {
      operations_[number].answer = {cluster.now(), *outcome.reply};
    }
    if (then) then(outcome);
  });
}

void KvWorld::RecordWindow(const KvHistory& history, const LinearizabilityResult& result) {
  if (cluster.recorder() == nullptr) return;
  for (const std::size_t i : result.window) {
    const KvOperation& operation = history[i];
    const auto& answer = operation.answer;
    cluster.recorder()->Add(
        testkit::Recorder::Operation{.client = operation.client,
                                     .begin = operation.begin,
                                     .end = answer ? std::optional(answer->at) : std::nullopt,
                                     .command = operation.command.Text(),
                                     .reply = answer ? kv::ToText(answer->reply) : "no answer",
                                     .is_marked = i == result.marked});
  }
}

testing::AssertionResult KvWorld::IsLinearizable() {
  if (const auto held = AllInvariantsHold(); !held) return held;
  KvHistory history;
  for (const KvOperation& operation : operations_) {
    // A command that every replica refused is no part of the history.
    const bool refused = operation.answer && HasCode(operation.answer->reply, "TRYAGAIN");
    if (!refused) history.push_back(operation);
  }
  const auto result = CheckLinearizability(history, kCheckerSteps);
  AddToResults("operations", history.size());
  if (result.verdict == Verdict::kLinearizable) return testing::AssertionSuccess();
  if (result.verdict == Verdict::kViolation) {
    RecordWindow(history, result);
    testkit::RecordSafetyViolation(
        testkit::ViolationSentence("linearizability", cluster.now(), "no order explains it",
                                   "the part of that name in lab 3's handout"));
  }
  return testing::AssertionFailure() << "the history is not linearizable\n" << result.explanation;
}

}  // namespace depfast::kv
