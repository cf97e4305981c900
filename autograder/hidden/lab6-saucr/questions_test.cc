// Hidden tests: random questions to a replica's rules. A model knows the one right answer to each.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "asked_rules.h"
#include "depfast/host/random.h"
#include "rule_model.h"
#include "safety.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

constexpr int kQuestions = 2000;  // of each rule

// Entries of a few terms: many are equal, and many differ in the term or in the index alone.
class AnyQuestion {
 public:
  explicit AnyQuestion(std::uint64_t test) : random_(testkit::TheEnvironment().seed, test) {}

  std::uint64_t Below(std::uint64_t bound) { return random_.Below(bound); }
  bool Coin() { return Below(2) == 0; }
  Quorums AnyQuorums() { return Quorums(3 + 2 * static_cast<int>(Below(3))); }
  EntryId Entry() { return Below(6) == 0 ? EntryId() : EntryId{1 + Below(3), 1 + Below(4)}; }
  Markers AnyMarkers() { return {Entry(), Entry()}; }

  LleMap Map(int replicas) {
    LleMap map(static_cast<std::size_t>(replicas));
    std::ranges::generate(map, [this] { return Entry(); });
    return map;
  }

  // Some of the replicas, in any order.
  std::vector<PeerId> Some(int replicas) {
    std::vector<PeerId> some;
    for (PeerId replica = 0; replica < replicas; ++replica) {
      if (Below(3) == 0) continue;
      const auto place = Below(some.size() + 1);
      some.insert(some.begin() + static_cast<std::ptrdiff_t>(place), replica);
    }
    return some;
  }

  // Most replicas are near each other, named and in their first life.
  Acks AnyAcks() {
    Acks acks;
    acks.buffered = Below(8);
    acks.durable = Coin() ? acks.buffered : Below(8);
    acks.named_from = Below(3) == 0 ? Below(8) : 1;
    acks.life = Below(4) == 0 ? static_cast<Life>(1 + Below(2)) : 0;
    return acks;
  }

 private:
  RandomStream random_;
};

// The lives that are known are no earlier than those of the acknowledgements.
Lives LivesOver(const std::vector<Acks>& acks, AnyQuestion& any) {
  Lives lives;
  for (const Acks& each : acks) {
    lives.push_back(each.life + (any.Below(5) == 0 ? static_cast<Life>(1 + any.Below(2)) : 0));
  }
  return lives;
}

// The wrong answers that may lose an entry, by what is told and what is right.
constexpr auto kMore = [](const auto& told, const auto& right) { return told > right; };
constexpr auto kLess = [](const auto& told, const auto& right) { return told < right; };
constexpr auto kAnyLess = [](const LleMap& told, const LleMap& right) {
  return !std::ranges::equal(told, right, std::greater_equal());
};
constexpr auto kEarlyOrLess = [](const auto& told, const auto& right) {
  return told && (!right || *told < *right);
};
constexpr auto kAChoice = [](const DataChoice& told, const DataChoice&) {
  return told.kind != DataChoice::Kind::kAskMore;
};

// The rule that was asked says what the model says. `arguments`: as in saucr_rules.h.
template <typename Loses, typename Result, typename... Parameters, typename... Arguments>
void ExpectSame(Loses loses, const std::function<Result(Parameters...)>& rule,
                Result (*model)(Parameters...), const Arguments&... arguments) {
  const Result told = rule(arguments...), right = model(arguments...);
  EXPECT_EQ(told, right) << (loses(told, right) ? Unsafe(Safety::kAcknowledgedIsKept) : "")
                         << "asked about " << testing::PrintToString(std::tuple(arguments...));
}

// `test`: its stream of random numbers.
void AskOften(std::uint64_t test, const std::function<void(AskedRules&, AnyQuestion&)>& ask,
              int questions = kQuestions) {
  AskedRules rules;
  AnyQuestion any(test);
  for (int i = 0; i < questions && !testing::Test::HasFailure(); ++i) ask(rules, any);
}

GRADED_TEST(Commit, RandomAcknowledgements, "6a", 2,
            "Random acknowledgements of 3, 5 and 7 replicas commit what the commit rule says.") {
  AskOften(1, [](AskedRules& rules, AnyQuestion& any) {
    const Quorums quorums = any.AnyQuorums();
    std::vector<Acks> acks(static_cast<std::size_t>(quorums.replicas()));
    std::ranges::generate(acks, [&] { return any.AnyAcks(); });
    // In half of the questions memories alone decide.
    const bool has_disks = any.Coin();
    for (Acks& each : acks) each.durable = has_disks ? each.durable : 0;
    const Lives lives = LivesOver(acks, any);
    ExpectSame(kMore, rules.committed, model::CommittedUpTo, 1 + any.Below(5), acks, lives,
               quorums);
  });
}

// A sequence of beats of one leader. Most have a number near the fast quorum.
void AskBeats(AskedRules& rules, AnyQuestion& any) {
  const Quorums quorums = any.AnyQuorums();
  ModeState state;
  std::vector<int> functional;
  for (int beat = 0; beat < 20 && !testing::Test::HasFailure(); ++beat) {
    const int around = quorums.majority() + static_cast<int>(any.Below(4) == 0 ? 0 : 1);
    const int count = any.Below(8) == 0 ? 1 + static_cast<int>(any.Below(7)) : around;
    functional.push_back(std::min(count, quorums.replicas()));
    state = rules.next_mode(state, functional.back(), quorums);
    EXPECT_EQ(state.mode, model::ModeAfter(functional, quorums))
        << quorums.replicas()
        << " replicas, functional at each beat: " << testing::PrintToString(functional);
  }
}

GRADED_TEST(Mode, RandomBeats, "6a", 1,
            "After random beats of 3, 5 and 7 replicas the mode is what the rules say.") {
  AskOften(2, AskBeats, kQuestions / 20);
}

GRADED_TEST(Markers, RandomQuestions, "6b", 1,
            "Random markers, entries and recovered LLEs say what is on the disk, and which markers "
            "to write.") {
  AskOften(3, [](AskedRules& rules, AnyQuestion& any) {
    const saucr::Markers markers = any.AnyMarkers();
    std::vector<EntryId> appended(any.Below(4));
    std::ranges::generate(appended, [&] { return EntryId{1 + any.Below(3), 1 + any.Below(4)}; });
    std::ranges::sort(appended, {}, [](const EntryId& id) { return std::pair(id.index, id.term); });
    ExpectSame(kMore, rules.is_on_disk, model::IsOnDisk, markers);
    ExpectSame(kLess, rules.fast_switch, model::FastSwitch, markers, appended);
    const EntryId last = any.Entry();
    const EntryId recovered = any.Coin() ? EntryId() : any.Entry();
    ExpectSame(kMore, rules.latest_on_disk, model::LatestOnDisk, markers, last, recovered);
  });
}

GRADED_TEST(Maps, RandomQuestions, "6b", 1,
            "Random maps are merged, and name the replicas of random rounds, as the rules say.") {
  AskOften(4, [](AskedRules& rules, AnyQuestion& any) {
    const int replicas = any.AnyQuorums().replicas();
    const LleMap ours = any.Map(replicas);
    ExpectSame(kAnyLess, rules.merged, model::Merged, ours, any.Map(replicas));
    const EntryId last{3 + any.Below(2), 4 + any.Below(2)};  // no known value is ahead
    ExpectSame(kAnyLess, rules.map_of_round, model::MapOfRound, ours, last, any.Some(replicas));
  });
}

GRADED_TEST(Lle, RandomAnswers, "6c", 1,
            "Random answers to a recovering replica of 3, 5 and 7 give the LLE that the rules "
            "say, or none yet.") {
  AskOften(5, [](AskedRules& rules, AnyQuestion& any) {
    const Quorums quorums = any.AnyQuorums();
    const auto self = static_cast<PeerId>(any.Below(static_cast<unsigned>(quorums.replicas())));
    std::vector<LleMap> answers(any.Below(static_cast<unsigned>(quorums.replicas())));
    std::ranges::generate(answers, [&] { return any.Map(quorums.replicas()); });
    ExpectSame(kEarlyOrLess, rules.recovered_lle, model::RecoveredLle, self, any.Entry(), answers,
               quorums);
  });
}

GRADED_TEST(Votes, RandomRequests, "6c", 1,
            "Random candidates get the vote of recovering and of recovered replicas as the rules "
            "say.") {
  AskOften(6, [](AskedRules& rules, AnyQuestion& any) {
    const bool is_recovering = any.Below(4) == 0;
    const EntryId ours = any.Entry(), candidates = any.Entry();
    ExpectSame(kMore, rules.grants_vote, model::GrantsVote, is_recovering, ours, candidates);
  });
}

// Half of the logs end near the recovered LLE, most are behind it.
std::vector<LogAnswer> AnyAnswers(const Quorums& quorums, AnyQuestion& any) {
  std::vector<LogAnswer> answers;
  for (const PeerId replica : any.Some(quorums.replicas())) {
    if (replica != 0) answers.push_back({replica, {1 + any.Below(2), any.Below(5)}, any.Coin()});
  }
  return answers;
}

GRADED_TEST(Data, RandomAnswers, "6c", 1,
            "Of random logs a leader without its data takes the one that the rules say, or asks "
            "more.") {
  AskOften(7, [](AskedRules& rules, AnyQuestion& any) {
    const Quorums quorums = any.AnyQuorums();
    const EntryId own{1, any.Below(4)}, recovered{2, 2 + any.Below(3)};
    ExpectSame(kAChoice, rules.choose, model::ChooseData, own, recovered, AnyAnswers(quorums, any),
               quorums);
  });
}

}  // namespace
}  // namespace depfast::saucr
