#include "sequence_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "answer_checker.h"
#include "safety.h"
#include "submit_client.h"
#include "testkit/cluster.h"
#include "testkit/some.h"
#include "testkit/violation.h"

namespace depfast::saucr {
namespace {

constexpr Duration kGap = 50ms;  // between two crashes: see kSilence
constexpr Duration kAtMost = 3s;
constexpr Duration kAtMostAtTheEnd = 5s;
constexpr Duration kAfterCommands = 50ms;
constexpr Duration kWithoutService = 300ms;
constexpr std::size_t kCommandBytes = 64;

UpSet Bit(PeerId replica) { return UpSet{1} << replica; }

std::vector<PeerId> MembersOf(UpSet set) {
  std::vector<PeerId> members;
  for (PeerId id = 0; (set >> id) != 0; ++id) {
    if ((set & Bit(id)) != 0) members.push_back(id);
  }
  return members;
}

// The rules to look at when a sequence ends otherwise than the ideal model says.
const char* RulesOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCorrect:
      return "it serves without f recovered replicas: R20, R21";
    case Verdict::kUnavailable:
      return "look at R6 and R9 for flushes, R21 for the LLE, R29 for a leader's data";
    case Verdict::kDataLoss:
      return "look at R3, R11 to R14, R21 and R29";
  }
  return "";
}

class Run {
 public:
  Run(const Sequence& sequence, const SequenceOptions& options)
      : sequence_(sequence),
        options_(options),
        cluster_({.replicas = options.replicas, .seed = options.world}),
        checker_(cluster_.simulator(), &cluster_.history()),
        answers_(cluster_.simulator(), checker_, cluster_.history()),
        client_(cluster_.simulator(), {.answer_timeout = 500ms, .give_up = 1s}),
        ideal_(options.replicas, options.system) {
    checker_.MarkIn(cluster_.recorder());
    cluster_.Start();
  }

  SequenceResult Judge() {
    result_.verdict = VerdictOfStates();
    result_.ideal = ideal_.Serves() ? Verdict::kCorrect : Verdict::kUnavailable;
    result_.violation = checker_.FirstViolation();
    if (!answers_.FirstViolation().empty()) result_.violation = answers_.FirstViolation();
    if (!cluster_.first_death().empty()) result_.violation = cluster_.first_death();
    result_.safety_violation = checker_.FirstSafetyViolation();
    if (result_.safety_violation.empty()) result_.safety_violation = answers_.FirstViolation();
    result_.coverage = checker_.coverage();
    return std::move(result_);
  }

 private:
  Verdict VerdictOfStates() {
    for (const UpSet state : sequence_) {
      Enter(state);
      if (ideal_.Serves() && !Serve(ToString(Sequence{state}))) return Verdict::kUnavailable;
      cluster_.RunFor(ideal_.Serves() ? kAfterCommands : kWithoutService);
    }
    if (!Commit(1, kAtMostAtTheEnd)) {
      result_.why = "all replicas are up, and no command is committed within 5 s";
      return Verdict::kUnavailable;
    }
    cluster_.RunFor(kWithoutService);
    return HasAll() ? Verdict::kCorrect : Verdict::kDataLoss;
  }

  // ---- crashes and starts ----

  void Enter(UpSet state) {
    std::vector<PeerId> gone = MembersOf(ideal_.up() & ~state);
    MoveLeader(gone);
    if (options_.crashes == Crashes::kAtOnce) ideal_.Crash(ideal_.up() & ~state);
    for (const PeerId id : gone) {
      if (options_.crashes == Crashes::kWithGaps) {
        if (id != gone.front()) cluster_.RunFor(kGap);
        ideal_.Crash(Bit(id));
      }
      cluster_.Crash(id);
    }
    const UpSet back = state & ~ideal_.up();
    for (const PeerId id : MembersOf(back)) cluster_.Restart(id);
    ideal_.Start(back);
  }

  void MoveLeader(std::vector<PeerId>& gone) const {
    const auto leader = std::ranges::find(gone, checker_.Leader());
    if (options_.leaders_turn == 0 || leader == gone.end()) return;
    const auto turn = std::min<std::ptrdiff_t>(options_.leaders_turn, std::ssize(gone)) - 1;
    const PeerId id = *leader;
    gone.erase(leader);
    gone.insert(gone.begin() + turn, id);
  }

  // ---- service ----

  bool Serve(const std::string& state) {
    const Mode mode = ideal_.IsFast() ? Mode::kFast : Mode::kSlow;
    cluster_.RunUntil([&] { return checker_.ServesIn(mode); }, kAtMost);
    if (Commit(options_.commands, kAtMost)) {
      LetAllTakePart();
      return true;
    }
    result_.why = "with replicas " + state + " up, not all of " +
                  std::to_string(options_.commands) + " commands are committed within 3 s";
    return false;
  }

  // The ideal model's replicas count as soon as they are up. These must catch up first.
  void LetAllTakePart() {
    const Time limit = cluster_.now() + kAtMost;
    while ((ideal_.recovered() & ~TakingPart()) != 0 && cluster_.now() < limit) {
      cluster_.RunFor(kBeat);
      Commit(1, kAtMost);
    }
  }

  // In a log that loses terms an id is not of one entry: files tell.
  std::uint64_t TakingPart() {
    if (options_.system != System::kMemoryDurable) return checker_.NamedLast();
    UpSet have = 0;
    for (PeerId id = 0; id < options_.replicas; ++id) {
      if (CommandsOf(id).contains(acknowledged_.back())) have |= Bit(id);
    }
    return have;
  }

  // Another command takes the place of one whose outcome is unknown.
  bool Commit(int count, Duration at_most) {
    left_ = count;
    // Until then: a command of an earlier state may still be under way.
    const std::uint64_t round = ++round_;
    for (int i = 0; i < count; ++i) Submit(round);
    return cluster_.RunUntil([this] { return left_ == 0; }, at_most);
  }

  void Submit(std::uint64_t round) {
    const std::string text = CommandText(++submitted_, kCommandBytes);
    client_.Submit(text, [this, round, command = DigestOf(text)](bool committed) {
      if (committed) acknowledged_.push_back(command);
      if (round != round_) return;
      committed ? static_cast<void>(--left_) : Submit(round);
    });
  }

  // ---- files ----

  bool HasAll() {
    std::vector<std::set<CommandDigest>> files;
    for (PeerId id = 0; id < options_.replicas; ++id) files.push_back(CommandsOf(id));
    for (const CommandDigest& command : acknowledged_) {
      const auto holders = std::ranges::count_if(
          files, [&](const auto& commands) { return commands.contains(command); });
      if (holders >= Quorums(options_.replicas).majority()) continue;
      result_.why = "of " + std::to_string(acknowledged_.size()) +
                    " acknowledged commands, one is in the files of " + std::to_string(holders) +
                    " of " + std::to_string(options_.replicas) + " replicas only";
      return false;
    }
    return true;
  }

  // Commands of the whole log, unsynced bytes included. They are few, and need no snapshot.
  std::set<CommandDigest> CommandsOf(PeerId replica) {
    std::set<CommandDigest> commands;
    const auto& files = cluster_.simulator().disk(replica).files();
    const auto file = files.find(kWalFile);
    if (file == files.end()) return commands;
    WalState wal;
    wal.Read(file->second.data);
    for (EntryIndex index = wal.log.base_index() + 1; index <= wal.log.last_index(); ++index) {
      commands.insert(DigestOf(wal.log.At(index).command));
    }
    return commands;
  }

  const Sequence sequence_;
  const SequenceOptions options_;
  testkit::Cluster cluster_;
  SaucrChecker checker_;
  AnswerChecker answers_;
  SubmitClient client_;
  SaucrIdeal ideal_;
  SequenceResult result_;
  std::vector<CommandDigest> acknowledged_;
  std::uint64_t submitted_ = 0;
  std::uint64_t round_ = 0;  // of Commit
  int left_ = 0;             // commands of this round that are not committed
};

}  // namespace

SequenceResult RunSequence(const Sequence& sequence, const SequenceOptions& options) {
  return Run(sequence, options).Judge();
}

SaucrChecker::Coverage ExpectIdeal(const std::vector<Sequence>& sequences,
                                   SequenceOptions options) {
  SaucrChecker::Coverage coverage;
  for (const Sequence& sequence : testkit::Some(sequences)) {
    const SequenceResult result = RunSequence(sequence, options);
    const std::string of =
        " (sequence " + ToString(sequence) + ", world " + std::to_string(options.world++) + ")";
    if (result.verdict != result.ideal) {
      const bool is_lost = result.verdict == Verdict::kDataLoss;
      ADD_FAILURE() << (is_lost ? Unsafe(Safety::kAcknowledgedIsKept) : "") << "The sequence is '"
                    << ToString(result.verdict) << "', and must be '" << ToString(result.ideal)
                    << "': " << RulesOf(result.verdict) << ". " << result.why << of;
    }
    if (!result.violation.empty()) {
      ADD_FAILURE() << result.violation << of;
      testkit::RecordOtherViolation(result.violation);
    }
    if (!result.safety_violation.empty()) testkit::RecordSafetyViolation(result.safety_violation);
    if (testing::Test::HasFailure()) break;
    coverage = result.coverage;
  }
  return coverage;
}

}  // namespace depfast::saucr
