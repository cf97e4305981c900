// Hidden tests: who is slow, and who sends its clients away?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "asked_diagnosis.h"
#include "depfast/host/random.h"
#include "diagnosis_model.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

using Who = Suspicion::Who;

constexpr Resource kResources[] = {Resource::kProcessor, Resource::kDisk, Resource::kNetwork};

// The levels of all replicas. All reports are young.
class Replicas {
 public:
  explicit Replicas(int replicas) : levels_(static_cast<std::size_t>(replicas)) {}

  Levels& operator[](PeerId replica) { return levels_[static_cast<std::size_t>(replica)]; }
  int size() const { return static_cast<int>(levels_.size()); }

  void MakeSlow(PeerId replica, Resource resource) {
    if (resource == Resource::kProcessor) (*this)[replica].processor = Level::kFatal;
    if (resource == Resource::kDisk) (*this)[replica].disk = Level::kFatal;
    if (resource != Resource::kDisk) MakeFar(replica);
  }

  // Both ends of each link notice: a slow processor answers late, too.
  void MakeFar(PeerId replica) {
    for (PeerId peer = 0; peer < size(); ++peer) {
      if (peer != replica) MakeLong(replica, peer);
    }
  }

  void MakeLong(PeerId a, PeerId b) {
    (*this)[a].links[b] = Level::kFatal;
    (*this)[b].links[a] = Level::kFatal;
  }

  std::vector<PeerReport> PeersOf(PeerId self) {
    std::vector<PeerReport> reports;
    for (PeerId peer = 0; peer < size(); ++peer) {
      if (peer != self) reports.push_back({peer, 0, (*this)[peer]});
    }
    return reports;
  }

 private:
  std::vector<Levels> levels_;
};

Suspicion SeenBy(AskedDiagnosis& diagnosis, Replicas& replicas, PeerId self) {
  return diagnosis.Diagnose(self, replicas[self], replicas.PeersOf(self), replicas.size());
}

GRADED_TEST(Suspects, AreFoundEverywhere, "7c", 3,
            "Every slow resource of every replica of 3, 5 and 7 is named by the replica itself and "
            "by all others.") {
  AskedDiagnosis diagnosis;
  for (const int n : {3, 5, 7}) {
    for (PeerId slow = 0; slow < n; ++slow) {
      for (const Resource resource : kResources) {
        Replicas replicas(n);
        replicas.MakeSlow(slow, resource);
        for (PeerId self = 0; self < n; ++self) {
          const Suspicion right = {self == slow ? Who::kSelf : Who::kPeer, slow, resource};
          EXPECT_EQ(SeenBy(diagnosis, replicas, self), right)
              << "replica " << self << " of " << n << ", and replica " << slow << " is slow";
        }
      }
    }
  }
}

GRADED_TEST(Suspects, AreNotEverybody, "7c", 2,
            "If more than half of a replica's peers are slow by one resource, it names everybody, "
            "itself well or not.") {
  AskedDiagnosis diagnosis;
  for (const int n : {3, 5, 7}) {
    for (const Resource resource : kResources) {
      Replicas replicas(n);
      for (PeerId slow = n / 2 - 1; slow < n; ++slow) replicas.MakeSlow(slow, resource);
      for (PeerId self = 0; self < n; ++self) {
        EXPECT_EQ(SeenBy(diagnosis, replicas, self).who, Who::kEverybody)
            << "replica " << self << " of " << n;
      }
    }
  }
}

GRADED_TEST(Suspects, AreNotFarPeers, "7c", 2,
            "One long link names nobody. A peer that is far from all is named, and the replicas "
            "that see it are not.") {
  AskedDiagnosis diagnosis;
  for (const int n : {3, 5}) {
    Replicas one_link(n);
    one_link.MakeLong(0, n - 1);
    Replicas far(n);
    far.MakeFar(n - 1);
    for (PeerId self = 0; self < n - 1; ++self) {
      EXPECT_EQ(SeenBy(diagnosis, one_link, self), Suspicion()) << "replica " << self;
      EXPECT_EQ(SeenBy(diagnosis, far, self), (Suspicion{Who::kPeer, n - 1, Resource::kNetwork}))
          << "replica " << self;
    }
  }
}

GRADED_TEST(Suspects, AreNotOfOldReports, "7c", 2,
            "A report that is older than a second does not count.") {
  AskedDiagnosis diagnosis;
  Replicas replicas(3);
  replicas.MakeSlow(2, Resource::kDisk);
  std::vector<PeerReport> reports = replicas.PeersOf(0);
  reports[1].age_ns = 800'000'000;
  EXPECT_EQ(diagnosis.Diagnose(0, {}, reports, 3), (Suspicion{Who::kPeer, 2, Resource::kDisk}));
  reports[1].age_ns = 1'250'000'000;
  EXPECT_EQ(diagnosis.Diagnose(0, {}, reports, 3), Suspicion());
  reports[0] = {1, 1'250'000'000, replicas[2]};
  EXPECT_EQ(diagnosis.Diagnose(0, replicas[2], reports, 3),
            (Suspicion{Who::kSelf, 0, Resource::kDisk}))
      << "both peers were slow by their disks, long ago";
}

GRADED_TEST(Suspects, AreNotThoseBesideThem, "7c", 2,
            "A leader whose links are long because the processors of most followers are slow does "
            "not name its own network. Those followers' networks are not slow, either.") {
  AskedDiagnosis diagnosis;
  Replicas replicas(5);
  replicas.MakeSlow(1, Resource::kProcessor);
  replicas.MakeSlow(2, Resource::kProcessor);
  EXPECT_EQ(SeenBy(diagnosis, replicas, 0), (Suspicion{Who::kPeer, 1, Resource::kProcessor}));
  replicas.MakeSlow(3, Resource::kProcessor);
  EXPECT_EQ(SeenBy(diagnosis, replicas, 0), (Suspicion{Who::kEverybody, 0, Resource::kProcessor}));
  Replicas seven(7);
  for (const PeerId far : {0, 1, 2}) {
    for (PeerId peer = far + 1; peer < 5; ++peer) seven.MakeLong(far, peer);
  }
  seven.MakeSlow(5, Resource::kProcessor);
  seven.MakeSlow(6, Resource::kProcessor);
  EXPECT_EQ(SeenBy(diagnosis, seven, 0), (Suspicion{Who::kSelf, 0, Resource::kNetwork}))
      << "networks of 0, 1 and 2 are slow, and processors of 5 and 6";
}

// Levels of which few are fatal.
class AnyGroup {
 public:
  explicit AnyGroup(std::uint64_t test) : random_(testkit::TheEnvironment().seed, test) {}

  void Draw() {
    size_ = 3 + static_cast<int>(Below(5));
    odds_ = 2 + Below(5);
    reports_.clear();
    for (PeerId peer = 0; peer < size_; ++peer) {
      const std::int64_t age = kAges[Below(kAges.size())];
      if (Below(8) != 0) reports_.push_back({peer, age, AnyLevels(peer)});
    }
    const auto turn = static_cast<std::ptrdiff_t>(Below(reports_.size() + 1));
    std::ranges::rotate(reports_, reports_.begin() + turn);
    self_ = static_cast<PeerId>(Below(static_cast<std::uint64_t>(size_)));
    std::erase_if(reports_, [this](const PeerReport& report) { return report.peer == self_; });
    own_ = AnyLevels(self_);
  }

  std::uint64_t Below(std::uint64_t bound) { return random_.Below(bound); }
  int size() const { return size_; }
  PeerId self() const { return self_; }
  const Levels& own() const { return own_; }
  const std::vector<PeerReport>& reports() const { return reports_; }

 private:
  // A report of exactly 1 s counts.
  static constexpr std::array<std::int64_t, 4> kAges = {0, 750'000'000, 1'000'000'000,
                                                        1'250'000'000};

  Level AnyLevel() {
    if (Below(odds_) == 0) return Level::kFatal;
    return Below(4) == 0 ? Level::kSlow : Level::kWell;
  }

  Levels AnyLevels(PeerId replica) {
    Levels levels = {.processor = AnyLevel(), .disk = AnyLevel()};
    for (PeerId peer = 0; peer < size_; ++peer) {
      if (peer != replica && Below(4) != 0) levels.links[peer] = AnyLevel();
    }
    return levels;
  }

  RandomStream random_;
  int size_ = 3;
  std::uint64_t odds_ = 2;
  PeerId self_ = 0;
  Levels own_;
  std::vector<PeerReport> reports_;
};

constexpr int kQuestions = 1000;

GRADED_TEST(Suspects, OfRandomLevels, "7c", 2,
            "Random levels and reports of 3 to 7 replicas have the answers of rules D1 to D5.") {
  AskedDiagnosis diagnosis;
  AnyGroup any(1);
  for (int i = 0; i < kQuestions; ++i) {
    any.Draw();
    ASSERT_EQ(diagnosis.Diagnose(any.self(), any.own(), any.reports(), any.size()),
              ModelDiagnose(any.self(), any.own(), any.reports(), any.size()))
        << "replica " << any.self() << " of " << any.size();
  }
}

GRADED_TEST(
    ClientsOfASlowReplica, AreNotSentToNobody, "7e", 3,
    "A replica keeps its clients if no peer is known to be well, and if everybody is slow.") {
  AskedDiagnosis diagnosis;
  for (const Resource resource : kResources) {
    const Suspicion self = {Who::kSelf, 0, Resource::kDisk};
    Replicas replicas(3);
    replicas.MakeSlow(0, Resource::kDisk);
    EXPECT_TRUE(diagnosis.SendsClientsAway(self, 0s, replicas.PeersOf(0), 3));
    auto old = replicas.PeersOf(0);
    for (PeerReport& report : old) report.age_ns = 1'250'000'000;
    EXPECT_FALSE(diagnosis.SendsClientsAway(self, 0s, old, 3)) << "old reports";
    EXPECT_FALSE(diagnosis.SendsClientsAway(self, 0s, {}, 3)) << "no report";
    EXPECT_FALSE(diagnosis.SendsClientsAway({Who::kEverybody, 0, Resource::kDisk}, 0s,
                                            replicas.PeersOf(0), 3))
        << "everybody is slow";
    replicas.MakeSlow(1, resource);
    replicas.MakeSlow(2, resource);
    EXPECT_FALSE(diagnosis.SendsClientsAway(self, 0s, replicas.PeersOf(0), 3)) << "slow peers";
  }
}

GRADED_TEST(ClientsOfASlowReplica, AreTakenBack, "7e", 3,
            "A replica takes clients again when it has not named itself for 5 s, and not before.") {
  AskedDiagnosis diagnosis;
  const std::vector<PeerReport> well = {{1, 0, {}}, {2, 0, {}}};
  EXPECT_TRUE(diagnosis.SendsClientsAway({}, 1s, well, 3));
  EXPECT_TRUE(diagnosis.SendsClientsAway({}, 4s, well, 3));
  EXPECT_FALSE(diagnosis.SendsClientsAway({}, 6s, well, 3));
  EXPECT_FALSE(diagnosis.SendsClientsAway({}, 60s, well, 3));
  const Suspicion peer = {Who::kPeer, 1, Resource::kDisk};
  EXPECT_FALSE(diagnosis.SendsClientsAway(peer, std::nullopt, well, 3));
}

GRADED_TEST(ClientsOfASlowReplica, OfRandomLevels, "7e", 3,
            "Random suspicions and reports of 3 to 7 replicas have the answers of rule E1.") {
  AskedDiagnosis diagnosis;
  AnyGroup any(2);
  for (int i = 0; i < kQuestions; ++i) {
    any.Draw();
    const Suspicion suspicion = ModelDiagnose(any.self(), any.own(), any.reports(), any.size());
    std::optional<Duration> since;
    if (suspicion.who == Who::kSelf)
      since = 0s;
    else if (any.Below(2) == 0)
      since = 500ms * (1 + any.Below(20));
    ASSERT_EQ(diagnosis.SendsClientsAway(suspicion, since, any.reports(), any.size()),
              ModelSendsClientsAway(suspicion, since, any.reports(), any.size()))
        << "replica " << any.self() << " of " << any.size();
  }
}

}  // namespace
}  // namespace depfast::adr
