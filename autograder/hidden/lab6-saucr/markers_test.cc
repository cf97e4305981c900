// Hidden tests: the markers of a disk, whatever comes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "rule_model.h"
#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

using Terms = std::vector<std::uint64_t>;  // of the entries of a log

EntryId LastOfTerms(const Terms& terms) { return {terms.empty() ? 0 : terms.back(), terms.size()}; }

std::string InWords(EntryId id) {
  return "(" + std::to_string(id.term) + "," + std::to_string(id.index) + ")";
}

// A replica's log and markers, by the rules.
class MarkersModel {
 public:
  void TakeFast(EntryIndex before, const Terms& terms) {
    const auto marker = model::FastSwitch(markers_, Append(before, terms));
    markers_.fast_switch = marker.value_or(markers_.fast_switch);
  }
  void TakeSlow(EntryIndex before, const Terms& terms) {
    Append(before, terms);
    Flush();
  }
  void Flush() {
    const auto marker = model::LatestOnDisk(markers_, LastOfTerms(log_), recovered_);
    markers_.latest_on_disk = marker.value_or(markers_.latest_on_disk);
  }
  // It starts with this log, and with the LLE that others have told.
  void Start(const Terms& on_disk, EntryId told) {
    log_ = on_disk;
    recovered_ = IsOnDisk() || LastOfTerms(log_) >= told ? EntryId() : told;
  }

  bool IsOnDisk() const { return model::IsOnDisk(markers_); }
  const Terms& log() const { return log_; }
  const Markers& markers() const { return markers_; }

 private:
  std::vector<EntryId> Append(EntryIndex before, const Terms& terms) {
    std::vector<EntryId> appended;
    for (EntryIndex index = before; const std::uint64_t term : terms) {
      if (++index <= log_.size() && log_[index - 1] == term) continue;
      log_.resize(index - 1);
      log_.push_back(term);
      appended.push_back({term, index});
    }
    if (LastOfTerms(log_) >= recovered_) recovered_ = {};
    return appended;
  }

  Terms log_;
  Markers markers_;
  EntryId recovered_;
};

// Replica 0 hears random messages of leaders, is left alone now and then, and crashes. Replica 1
// tells it its LLE.
class AnyLives {
 public:
  explicit AnyLives(std::uint64_t number)
      : random_(testkit::TheEnvironment().seed, 720, number), stage_(720 + number) {
    BeginTerm();
  }

  void Live(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      Step();
      WaitForTheDisk();
      ExpectTheMarkers();
    }
  }
  int losses() const { return losses_; }

 private:
  void Step() {
    const std::uint64_t what = random_.Below(20);
    if (what < 3) {
      BeginTerm();
    } else if (what < 10) {
      TakeEntriesIn(Mode::kFast);
    } else if (what < 12) {
      TakeEntriesIn(Mode::kSlow);
    } else if (what < 16) {
      HearBeat();
    } else if (what < 17) {
      Note("hears nobody");
      stage_.cluster.RunFor(kSilence + 5ms);
      model_.Flush();
    } else if (what < 18) {
      Note("hears beats for a while");
      for (int i = 0; i < 6; ++i) Ask(stage_.Beat(term_, Mode::kFast));
      for (int i = 0; i < 6; ++i) {
        stage_.cluster.RunFor(kBeat);
        Ask(stage_.Beat(term_, Mode::kFast));
      }
    } else {
      CrashAndStart();
    }
  }

  // The new leader's log is the beginning of an earlier leader's.
  void BeginTerm() {
    ++term_;
    Terms log = leaders_.empty() ? Terms() : leaders_[random_.Below(leaders_.size())];
    log.resize(log.size() - random_.Below(std::min<std::uint64_t>(log.size(), 3) + 1));
    log.push_back(term_);
    leaders_.push_back(log);
    Note("has a new leader, of term " + std::to_string(term_));
    Ask(stage_.Beat(term_, Mode::kFast));
  }

  void TakeEntriesIn(Mode mode) {
    Terms& leaders = leaders_.back();
    for (std::uint64_t more = random_.Below(3); more > 0; --more) leaders.push_back(term_);
    EntryIndex before = 0;
    while (before < std::min(leaders.size(), model_.log().size()) &&
           leaders[before] == model_.log()[before]) {
      ++before;
    }
    before -= random_.Below(std::min<EntryIndex>(before, 2) + 1);
    const EntryIndex end = before + random_.Below(leaders.size() - before + 1);
    const auto at = [&](EntryIndex index) {
      return leaders.begin() + static_cast<std::ptrdiff_t>(index);
    };
    const Terms terms(at(before), at(end));
    const EntryId prev{before == 0 ? 0 : leaders[before - 1], before};
    Note(std::string("takes entries of terms") + ListOf(terms) + " behind " + InWords(prev) +
         (mode == Mode::kFast ? " in fast mode" : " in slow mode"));
    const auto reply = Ask(stage_.Message(term_, prev, terms, mode));
    EXPECT_TRUE(reply.success) << "it refuses them" << steps_;
    EXPECT_EQ(reply.match, reply.success ? end : 0) << steps_;
    mode == Mode::kFast ? model_.TakeFast(before, terms) : model_.TakeSlow(before, terms);
  }

  void HearBeat() {
    const Mode mode = random_.Below(4) == 0 ? Mode::kFast : Mode::kSlow;
    Note(mode == Mode::kFast ? "hears a beat of fast mode" : "hears a beat of slow mode");
    Ask(stage_.Beat(term_, mode));
    if (mode == Mode::kSlow) model_.Flush();
  }

  void CrashAndStart() {
    Note("crashes, and starts");
    TellReplica1();
    if (model_.IsOnDisk()) {
      stage_.CrashAndStart(0);
      EXPECT_FALSE(stage_.IsRecovering(0)) << "it has lost nothing" << steps_;
    } else {
      ++losses_;
      EXPECT_TRUE(stage_.CrashAndRecover({0}, {0, 1})) << "it does not recover" << steps_;
    }
    Terms on_disk;
    const RaftLog& log = stage_.checker.disk(0).wal().log;
    for (EntryIndex index = 1; index <= log.last_index(); ++index) {
      on_disk.push_back(log.TermAt(index));
    }
    if (model_.IsOnDisk()) {
      EXPECT_EQ(on_disk, model_.log())
          << Unsafe(Safety::kDurablePromise) << "its disk lacks entries" << steps_;
    }
    model_.Start(on_disk, std::max(told_, LastOfTerms(on_disk)));
    Ask(stage_.Beat(term_, Mode::kFast));
  }

  // In half of the cases it knows as much as replica 0.
  void TellReplica1() {
    const EntryId last = LastOfTerms(model_.log());
    if (random_.Below(2) == 0) told_ = std::max(told_, last);
    const auto reply = stage_.Ask(
        1, stage_.Message(term_, {}, leaders_.back(), Mode::kFast, stage_.MapOf({0}, told_)));
    EXPECT_TRUE(reply && reply->success) << steps_;
  }

  // A flush that nobody waits for ends.
  void WaitForTheDisk() {
    stage_.cluster.RunFor(1ms);
    const sim::SimDisk& disk = stage_.group().disk(0);
    stage_.cluster.RunUntil([&] { return disk.idle() && !disk.has_work(); }, 30ms);
  }

  AppendEntriesReply Ask(const AppendEntries& request) {
    const auto reply = stage_.Ask(0, request);
    EXPECT_TRUE(reply) << "it does not answer" << steps_;
    return reply.value_or(AppendEntriesReply());
  }

  void ExpectTheMarkers() {
    const Markers& on_disk = stage_.MarkersOf(0);
    const Markers& right = model_.markers();
    const bool hides_a_loss = model::IsOnDisk(on_disk) && !model::IsOnDisk(right);
    EXPECT_TRUE(on_disk == right) << (hides_a_loss ? Unsafe(Safety::kAcknowledgedIsKept) : "")
                                  << "its disk says F " << InWords(on_disk.fast_switch) << " and D "
                                  << InWords(on_disk.latest_on_disk) << ", not F "
                                  << InWords(right.fast_switch) << " and D "
                                  << InWords(right.latest_on_disk) << steps_;
    EXPECT_TRUE(stage_.AllInvariantsHold()) << steps_;
  }

  static std::string ListOf(const Terms& terms) {
    std::string list;
    for (const std::uint64_t term : terms) list += " " + std::to_string(term);
    return list.empty() ? " none" : list;
  }
  void Note(const std::string& what) { steps_ += "\n  it " + what; }

  RandomStream random_;
  Stage stage_;
  MarkersModel model_;
  std::uint64_t term_ = 0;
  std::vector<Terms> leaders_;  // the logs of all leaders
  EntryId told_;                // replica 0's value in replica 1's map
  int losses_ = 0;
  std::string steps_;
};

GRADED_TEST(Markers, RandomLives, "6b", 2,
            "After random messages, silences and crashes a replica's markers are those of the "
            "rules.") {
  int losses = 0;
  for (std::uint64_t number = 1; number <= 8 && !HasFailure(); ++number) {
    AnyLives lives(number);
    lives.Live(number < 4 ? 12 : 60);
    losses += lives.losses();
  }
  EXPECT_GT(losses, 0) << "no crash has lost entries";
}

GRADED_TEST(Markers, BehindTheEntries, "6b", 2,
            "Whatever part of a flush a crash leaves, no marker says more than the log holds.") {
  SaucrWorld world({.replicas = 5, .seed = 731});
  ASSERT_TRUE(world.BeginFast(10));
  for (int crashes = 0; crashes < 3; ++crashes) {  // the third leaves a minority, which is silent
    world.cluster.Crash(world.Followers().front());
    world.cluster.RunFor(60ms);
    if (crashes < 2) {
      ASSERT_TRUE(world.Commit(5));
    } else {
      world.SubmitOne();
    }
  }
  world.cluster.RunFor(60ms);
  int markers = 0;
  for (PeerId id = 0; id < 5; ++id) {
    // The state after each record of the file: of each part that a crash can leave.
    WalState wal;
    wal.Read(world.group().disk(id).files().at(kWalFile).data, [&](WalRecord kind) {
      const EntryId marker = wal.markers.latest_on_disk;
      if (kind != WalRecord::kLatestOnDisk) return;
      ++markers;
      const bool has = wal.log.Knows(marker.index) && wal.log.TermAt(marker.index) == marker.term;
      EXPECT_TRUE(has) << Unsafe(Safety::kDurablePromise) << "replica " << id
                       << " writes latest-on-disk-entry " << InWords(marker)
                       << " before that entry: a crash between them loses it";
    });
  }
  EXPECT_GE(markers, 10);
}

GRADED_TEST(Markers, AnOlderTermsEntries, "6b", 1,
            "A log on the disk that a new leader has overwritten in fast mode is not taken for "
            "complete, though it is longer.") {
  Stage stage(732);
  ASSERT_TRUE(stage.Ask(0, stage.Message(1, {}, {1, 1, 1}, Mode::kSlow)));
  ASSERT_TRUE(stage.SaysAllIsThere(0));
  const auto reply = stage.Ask(0, stage.Message(2, {}, {2}, Mode::kFast));
  ASSERT_TRUE(reply && reply->success);
  stage.CrashAndStart(0);
  EXPECT_TRUE(stage.IsRecovering(0))
      << Unsafe(Safety::kAcknowledgedIsKept) << "it has acknowledged (2,1), and its disk has (1,3)";
  EXPECT_FALSE(stage.WouldVoteFor(0, {1, 3}))
      << Unsafe(Safety::kAcknowledgedIsKept) << "for a log without (2,1)";
}

GRADED_TEST(Markers, AFlushNamesWhatItBegan, "6b", 2,
            "An entry that comes in fast mode during a flush is not covered by the flush's "
            "marker.") {
  Stage stage(733);
  ASSERT_TRUE(stage.Ask(0, stage.Beat(1, Mode::kFast)));
  stage.cluster.Begin(faults::FsDelay({0}, 10ms));
  stage.Send(0, stage.Message(1, {}, {1}, Mode::kSlow));
  stage.cluster.RunFor(5ms);
  const auto reply = stage.Ask(0, stage.Message(1, {1, 1}, {1, 1}, Mode::kFast));
  ASSERT_TRUE(reply && reply->success);
  const auto& [fast_switch, latest_on_disk] = stage.MarkersOf(0);
  EXPECT_EQ(InWords(fast_switch), "(1,2)")
      << Unsafe(Safety::kAcknowledgedIsKept) << "the first entry that came during the flush";
  EXPECT_EQ(InWords(latest_on_disk), "(1,1)")
      << Unsafe(Safety::kAcknowledgedIsKept) << "the log's last entry as the flush began";
  stage.CrashAndStart(0);
  EXPECT_TRUE(stage.cluster.RunUntil([&] { return stage.IsRecovering(0); }, 200ms))
      << Unsafe(Safety::kAcknowledgedIsKept) << "it has acknowledged (1,3) from its memory";
}

GRADED_TEST(Markers, SurviveCompaction, "6b", 1,
            "A compaction of the log in fast mode keeps both markers and the map.") {
  SaucrWorld world({.replicas = 3, .seed = 734});
  ASSERT_TRUE(world.BeginFast(5));
  std::vector<WalState> before;
  for (PeerId id = 0; id < 3; ++id) before.push_back(world.checker.disk(id).wal());
  const auto have_compacted = [&] {
    return world.checker.HasSnapshot(0) && world.checker.HasSnapshot(1) &&
           world.checker.HasSnapshot(2);
  };
  for (int i = 0; i < 100 && !have_compacted(); ++i) {
    ASSERT_TRUE(world.SubmitAndWait(1s, 64 << 10));
  }
  world.cluster.RunFor(200ms);
  ASSERT_TRUE(have_compacted());
  ASSERT_EQ(world.checker.coverage().switches, 1U) << "no replica has failed";
  for (PeerId id = 0; id < 3; ++id) {
    const WalState& wal = world.checker.disk(id).wal();
    EXPECT_TRUE(wal.markers == before[static_cast<std::size_t>(id)].markers)
        << Unsafe(Safety::kDurablePromise) << "replica " << id
        << "'s log file has other markers than before";
    EXPECT_EQ(wal.map, before[static_cast<std::size_t>(id)].map)
        << Unsafe(Safety::kDurablePromise) << "of replica " << id;
  }
  const PeerId lost = world.Followers().front();
  world.cluster.Crash(lost);
  EXPECT_TRUE(world.ServesAgain());
  EXPECT_TRUE(world.HasRecovered(lost));
}

GRADED_TEST(Durability, VotesAndTermsAlways, "6b", 1,
            "In fast mode terms and votes are on the disk before they are told, too.") {
  Stage stage(735);
  ASSERT_TRUE(stage.Ask(0, stage.Message(1, {}, {1}, Mode::kFast)));
  for (std::uint64_t term = 2; term <= 8; ++term) {
    const auto vote = stage.Ask(0, RequestVote{term, 2, {1, 5}, /*pre_vote=*/false});
    ASSERT_TRUE(vote && vote->granted);
    const HardState& on_disk = stage.checker.disk(0).wal().hard_state;
    EXPECT_EQ(on_disk.term, term) << Unsafe(Safety::kDurablePromise);
    EXPECT_EQ(on_disk.voted_for, 2) << Unsafe(Safety::kDurablePromise);
    const auto second = stage.Ask(0, RequestVote{term, 1, {1, 5}, /*pre_vote=*/false});
    EXPECT_FALSE(second && second->granted)
        << Unsafe(Safety::kOneVote) << "it votes for a second candidate of a term";
    // The second message of a term comes while the first one's is on its way to the disk.
    stage.Send(0, stage.Beat(++term, Mode::kFast));
    const auto beat = stage.Ask(0, stage.Beat(term, Mode::kFast));
    ASSERT_TRUE(beat && beat->success);
    EXPECT_EQ(stage.checker.disk(0).wal().hard_state.term, term) << Unsafe(Safety::kDurablePromise);
  }

  SaucrWorld world({.replicas = 5, .seed = 736});
  ASSERT_TRUE(world.BeginFast(5));
  world.cluster.Crash(world.Leader());
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
}

}  // namespace
}  // namespace depfast::saucr
