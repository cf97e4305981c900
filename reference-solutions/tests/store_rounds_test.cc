// Store rounds: in each round a fault hits replicas of the key-value store under load. Then the
// whole history of all clients must be linearizable, and no acknowledged write lost.
//
// STORE_ROUNDS in the environment is the number of rounds, 3 if not given. Rounds follow
// STORE_ROUNDS_SEED: the faults, the victims, and the number of commands before and under each
// fault. A failure names the rounds that its operations were in, with their faults.
//
// The faults: SIGKILL of one replica or of all, a power cut of one or of all, SIGSTOP, a full disk
// that has room again later, and a disk whose operations fail until the replica is started again.
// Or a majority loses its power, and the others stop: then nobody has what was in memories until
// they go on.
//
// The rounds notice a log that is not found again, an answer before the sync (if the power is cut
// between them), a replica that never catches up, and a command that is executed twice.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "depfast/host/random.h"
#include "injection.h"
#include "kv_errors.h"
#include "replica_cluster.h"
#include "store_load.h"
#include "support.h"

namespace depfast::kv {
namespace {

using faults::FaultKind;

constexpr int kClients = 6;
constexpr std::uint64_t kMoreMax = 150;  // commands until a fault, or under it
// SAUCR is in fast mode again then: memories alone have the latest commands.
constexpr std::uint64_t kMoreUntilFast = 500;
constexpr std::uint64_t kStepsMax = 50'000'000;
constexpr std::int64_t kAlways = 1000;  // per mille

using real::FromEnvironment;

// The program of a mutant instead of the reference's.
constexpr const char* kProgram = "STORE_PROGRAM";

struct Round {
  std::string fault;  // "SIGKILL of replica 1, the leader"
  Time began{0};
  Time ended{0};
};

class StoreRounds : public testing::Test {
 public:
  explicit StoreRounds(const std::string& program = FromEnvironment(kProgram, LAB3_REAL),
                       int replicas = 3)
      : cluster_(program, {.replicas = replicas, .faults = true}) {}

 protected:
  enum class Fault : std::uint8_t {
    kKill,
    kCut,
    kKillAll,
    kCutAll,
    kStop,
    kFullDisk,
    kFailedDisk,
    kCutMost
  };

  void RunRound(std::uint64_t number, Fault fault) {
    load_.SetRound(number);
    int leader = -1;
    ASSERT_TRUE(real::Eventually([&] { return (leader = Leader()) >= 0; })) << "nobody leads";
    const bool hits_leader = random_.Below(2) == 0;
    const int drawn = static_cast<int>(random_.Below(static_cast<std::uint64_t>(cluster_.size())));
    const int victim = hits_leader ? leader : drawn;
    rounds_.push_back({Name(fault, victim, leader), StoreClock(), Time{0}});
    SCOPED_TRACE(Title(rounds_.size() - 1));
    std::printf("%s\n", Title(rounds_.size() - 1).c_str());
    std::fflush(stdout);
    ASSERT_TRUE(fault == Fault::kCutMost ? load_.AwaitMore(kMoreUntilFast) : AwaitMore())
        << "the store does not serve before the fault";
    Inject(fault, victim);
    if (!HitsAll(fault) && fault != Fault::kCutMost) {
      ASSERT_TRUE(AwaitMore()) << "the store does not serve under the fault";
    }
    Heal(fault, victim);
    for (int id = 0; id < cluster_.size(); ++id) {
      ASSERT_TRUE(real::Eventually([&] { return AnswersReads(cluster_, id); }))
          << "replica " << id << " does not serve after the fault; it said: " << cluster_.LogOf(id);
    }
    rounds_.back().ended = StoreClock();
  }

  // A round for each fault that `next` names, by the number of rounds that follow.
  void RunRounds(const std::function<Fault(std::uint64_t left)>& next) {
    const std::uint64_t rounds = FromEnvironment("STORE_ROUNDS", 3);
    for (std::uint64_t number = 1; number <= rounds; ++number) {
      RunRound(number, next(rounds - number));
      if (HasFatalFailure()) return;
    }
    ExpectLinearizable();
  }

  Fault Any() {
    static constexpr std::array kFaults = {Fault::kKill,     Fault::kCut,       Fault::kKillAll,
                                           Fault::kCutAll,   Fault::kStop,      Fault::kStop,
                                           Fault::kFullDisk, Fault::kFailedDisk};
    return kFaults[random_.Below(kFaults.size())];
  }

 private:
  void ExpectLinearizable() {
    load_.Stop();
    KvHistory history = load_.history();
    ReadAll(history);
    const auto result = CheckLinearizability(history, kStepsMax);
    std::printf("%zu commands executed, %zu with an unknown outcome\n", load_.executed(),
                load_.history().size() - load_.executed());
    EXPECT_TRUE(result.verdict == Verdict::kLinearizable)
        << RoundsOf(history, result.window) << result.explanation;
  }

  static bool HitsAll(Fault fault) { return fault == Fault::kKillAll || fault == Fault::kCutAll; }

  static std::string Name(Fault fault, int victim, int leader) {
    static constexpr std::array kNames = {"SIGKILL of",
                                          "a power cut of",
                                          "SIGKILL of all,",
                                          "a power cut of all,",
                                          "SIGSTOP of",
                                          "a full disk of",
                                          "failed disk operations of",
                                          "a power cut of a majority while the others stop, with"};
    const std::string who = HitsAll(fault) ? " led by " : " ";
    const int replica = HitsAll(fault) ? leader : victim;
    return kNames[static_cast<std::size_t>(fault)] + who + "replica " + std::to_string(replica) +
           (!HitsAll(fault) && victim == leader ? ", the leader" : "");
  }

  std::string Title(std::size_t at) const {
    return "round " + std::to_string(at + 1) + ": " + rounds_[at].fault + " (seed " +
           std::to_string(seed_) + ")";
  }

  bool AwaitMore() { return load_.AwaitMore(1 + random_.Below(kMoreMax)); }

  int Leader() { return LeaderOf(All()); }

  // A command for the proposer alone is refused by the others. -1: nobody answers it.
  int LeaderOf(const std::vector<int>& replicas) {
    for (const int id : replicas) {
      if (AnswersReads(cluster_, id, ++forwards_)) return id;
    }
    return -1;
  }

  std::vector<int> All() const {
    std::vector<int> all(static_cast<std::size_t>(cluster_.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  std::vector<int> Victims(Fault fault, int victim) const {
    const int majority = cluster_.size() / 2 + 1;
    const int count = HitsAll(fault) ? cluster_.size() : fault == Fault::kCutMost ? majority : 1;
    std::vector<int> victims;
    for (int i = 0; i < count; ++i) victims.push_back((victim + i) % cluster_.size());
    return victims;
  }

  std::vector<int> Others(Fault fault, int victim) const {
    std::vector<int> others = All();
    for (const int id : Victims(fault, victim)) std::erase(others, id);
    return others;
  }

  // A majority that trusts its disks serves without the others, and decides anew what was in
  // memories. One that does not is silent until they go on.
  void StartWithoutOthers(int victim) {
    constexpr auto kSeveralElections = 2s;
    const auto victims = Victims(Fault::kCutMost, victim);
    for (const int id : victims) cluster_.Start(id);
    const auto limit = std::chrono::steady_clock::now() + kSeveralElections;
    while (LeaderOf(victims) < 0 && std::chrono::steady_clock::now() < limit) poll(nullptr, 0, 1);
    for (const int id : Others(Fault::kCutMost, victim)) cluster_.Signal(id, SIGCONT);
  }

  void Inject(Fault fault, int victim) {
    switch (fault) {
      case Fault::kKill:
      case Fault::kKillAll:
        cluster_.Kill(Victims(fault, victim));
        return;
      case Fault::kCut:
      case Fault::kCutAll:
      case Fault::kCutMost:
        cluster_.CutPower(Victims(fault, victim));
        if (fault != Fault::kCutMost) return;
        for (const int id : Others(fault, victim)) cluster_.Signal(id, SIGSTOP);
        return;
      case Fault::kStop:
        cluster_.Signal(victim, SIGSTOP);
        return;
      case Fault::kFullDisk:
        real::Inject(cluster_.FaultsPath(victim), FaultKind::kDiskFull, 1);
        return;
      case Fault::kFailedDisk:
        real::Inject(cluster_.FaultsPath(victim), FaultKind::kDiskError, kAlways);
        return;
    }
  }

  void Heal(Fault fault, int victim) {
    switch (fault) {
      case Fault::kStop:
        cluster_.Signal(victim, SIGCONT);
        return;
      case Fault::kFullDisk:
        real::Heal(cluster_.FaultsPath(victim), FaultKind::kDiskFull);
        return;
      case Fault::kFailedDisk:  // out of service for good: an operator ends it
        cluster_.Kill({victim});
        break;
      case Fault::kCutMost:
        StartWithoutOthers(victim);
        return;
      case Fault::kKill:
      case Fault::kCut:
      case Fault::kKillAll:
      case Fault::kCutAll:
        break;
    }
    for (const int id : Victims(fault, victim)) cluster_.Start(id);
  }

  // Reads every key: the last acknowledged write of each is seen here at the latest.
  void ReadAll(KvHistory& history) {
    std::vector<std::string> keys;
    for (const KvOperation& each : history) keys.push_back(each.command.arguments().front());
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const std::string& key : keys) {
      std::optional<Reply> reply;
      const Time began = StoreClock();
      ASSERT_TRUE(real::Eventually([&] {
        try {
          reply = AskStore(cluster_.endpoint(0), {"GET", key});
        } catch (const std::system_error&) {
          return false;
        }
        return reply && OutcomeIn(*reply) == CommandOutcome::kKnown;
      })) << "nobody reads "
          << key;
      history.push_back({0, ParsedCommand({"GET", key}), began, KvAnswer{StoreClock(), *reply}});
    }
  }

  // The rounds in which operations of a violation were under way.
  std::string RoundsOf(const KvHistory& history, const std::vector<std::size_t>& window) const {
    std::string text;
    for (std::size_t at = 0; at < rounds_.size(); ++at) {
      const auto overlaps = [&](std::size_t index) {
        const KvOperation& each = history[index];
        const Time end = each.answer ? each.answer->at : each.begin;
        return each.begin <= rounds_[at].ended && end >= rounds_[at].began;
      };
      if (std::any_of(window.begin(), window.end(), overlaps)) text += Title(at) + "\n";
    }
    return text;
  }

  const std::uint64_t seed_ = FromEnvironment("STORE_ROUNDS_SEED", 1);
  RandomStream random_{seed_};
  real::ReplicaCluster cluster_;
  std::uint64_t forwards_ = 0;
  std::vector<Round> rounds_;
  StoreLoad load_{cluster_, kClients, seed_};  // last: its clients end first
};

TEST_F(StoreRounds, LoseNothingAndAnswerAsOneStore) {
  RunRounds([this](std::uint64_t) { return Any(); });
}

// Five replicas of the store on SAUCR. What a replica in fast mode loses, the others tell it: one
// by one, then three that lose their power in one instant.
class StoreOnSaucr : public StoreRounds {
 public:
  StoreOnSaucr() : StoreRounds(FromEnvironment(kProgram, LAB6_REAL), 5) {}
};

TEST_F(StoreOnSaucr, LosesNothingToPowerCuts) {
  RunRounds([](std::uint64_t left) { return left > 0 ? Fault::kCut : Fault::kCutMost; });
}

}  // namespace
}  // namespace depfast::kv
