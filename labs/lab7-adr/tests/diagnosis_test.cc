// The public tests of the diagnosis: students see, run and replay them.
#include <gtest/gtest.h>

#include "asked_diagnosis.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

using Who = Suspicion::Who;

const Levels kWell;
const Levels kSlowDisk = {.disk = Level::kFatal};

GRADED_TEST(Diagnosis, MeOrAPeer, "7c", 1,
            "A replica with a fatal processor or disk is named: by itself, and by the others (D1, "
            "D3).") {
  AskedDiagnosis diagnosis;
  const std::vector<PeerReport> well = {{1, 0, kWell}, {2, 0, kWell}};
  const std::vector<PeerReport> one_slow = {{1, 0, kWell}, {2, 0, kSlowDisk}};
  EXPECT_EQ(diagnosis.Diagnose(0, kWell, well, 3), Suspicion());
  EXPECT_EQ(diagnosis.Diagnose(0, kSlowDisk, well, 3), (Suspicion{Who::kSelf, 0, Resource::kDisk}));
  EXPECT_EQ(diagnosis.Diagnose(0, kWell, one_slow, 3), (Suspicion{Who::kPeer, 2, Resource::kDisk}));
  EXPECT_EQ(diagnosis.Diagnose(0, {.disk = Level::kSlow}, well, 3), Suspicion()) << "a warning";
}

GRADED_TEST(Diagnosis, MyNetworkOrAPeers, "7c", 1,
            "The network of a replica is named if its links to most others are long. One long link "
            "names nobody (D2).") {
  AskedDiagnosis diagnosis;
  const Levels both = {.links = {{1, Level::kFatal}, {2, Level::kFatal}}};
  const Levels to_2 = {.links = {{2, Level::kFatal}}};
  const std::vector<PeerReport> well = {{1, 0, kWell}, {2, 0, kWell}};
  EXPECT_EQ(diagnosis.Diagnose(0, both, well, 3), (Suspicion{Who::kSelf, 0, Resource::kNetwork}));
  EXPECT_EQ(diagnosis.Diagnose(0, to_2, well, 3), Suspicion());
  EXPECT_EQ(diagnosis.Diagnose(0, to_2, {{1, 0, to_2}, {2, 0, kWell}}, 3),
            (Suspicion{Who::kPeer, 2, Resource::kNetwork}));
  const Levels to_0 = {.links = {{0, Level::kFatal}}};
  EXPECT_EQ(diagnosis.Diagnose(0, kWell, {{1, 0, to_0}, {2, 0, to_0}}, 3),
            (Suspicion{Who::kSelf, 0, Resource::kNetwork}))
      << "the other ends find its links long";
}

GRADED_TEST(Clients, GoElsewhere, "7e", 1,
            "A replica that names itself, or did so less than 5 s ago, sends its clients away, as "
            "long as a peer is well (E1).") {
  AskedDiagnosis diagnosis;
  const Suspicion self = {Who::kSelf, 0, Resource::kDisk};
  const std::vector<PeerReport> one_well = {{1, 0, kSlowDisk}, {2, 0, kWell}};
  const std::vector<PeerReport> none_well = {{1, 0, kSlowDisk}, {2, 0, kSlowDisk}};
  EXPECT_TRUE(diagnosis.SendsClientsAway(self, 0s, one_well, 3));
  EXPECT_FALSE(diagnosis.SendsClientsAway(self, 0s, none_well, 3));
  EXPECT_FALSE(diagnosis.SendsClientsAway({}, std::nullopt, one_well, 3));
  EXPECT_TRUE(diagnosis.SendsClientsAway({}, kWellBeforeClients - 1ns, one_well, 3));
  EXPECT_FALSE(diagnosis.SendsClientsAway({}, kWellBeforeClients, one_well, 3));
}

}  // namespace
}  // namespace depfast::adr
