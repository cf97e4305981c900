// HandoverWorld: the world of the tests of hand-overs: lab 3's store on a Raft whose replicas are
// told whom to find slow. From each start on, that is nobody: no detector has a say.
//
//   HandoverWorld world({.replicas = 3, .seed = 7});
//   const PeerId leader = world.WaitForProposer();
//   world.FindsItselfSlow(leader);
//   EXPECT_NE(world.WaitForSuccessor(leader, 1500ms), kNobody);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "handover_checker.h"
#include "kv_world.h"
#include "planted_health.h"
#include "sim/observer.h"
#include "testkit/client.h"

namespace depfast::adr {

class HandoverWorld : public kv::KvWorld, private sim::Observer {
 public:
  // Starts the replicas.
  explicit HandoverWorld(const testkit::ClusterOptions& options);

  // A report of now, without any bad level.
  static PeerReport Well(PeerId peer) { return {.peer = peer, .age_ns = 0, .levels = {}}; }

  // The replica learns it on its way, in less than a heartbeat.
  void Plant(PeerId replica, const PlantHealth& health);
  // The replica names itself. `reports`: of its peers.
  void FindsItselfSlow(PeerId replica, const std::vector<PeerReport>& reports,
                       Resource resource = Resource::kProcessor);
  // The replica names itself, and all peers are well.
  void FindsItselfSlow(PeerId replica, Resource resource = Resource::kProcessor);
  void FindsNobodySlow(PeerId replica);

  // Runs until another replica than `old` leads and serves. Returns it, or kNobody after `at_most`.
  PeerId WaitForSuccessor(PeerId old, Duration at_most);

  // Runs until a leader executes a SET, which is sent again while its outcome is unknown. Returns
  // whether one has within `at_most`.
  bool Serves(Duration at_most);

  // The answer to INCR n of this replica alone. It is asked again while it refuses, for 2 s: a
  // leader may do so while it hands over.
  kv::Reply IncrementAt(PeerId leader);

  // Runs until a TimeoutNow has left a replica, beyond the first `before`. Returns whether it has.
  bool WaitForMessage(std::size_t before, Duration at_most);

  // Sends the message on behalf of a leader, and runs until it is answered. Nothing, and a failure,
  // without an answer. `with_heartbeats`: some come right before, which keep the replica busy, and
  // one right behind, which it reads together with the message.
  std::optional<raft::TimeoutNowReply> Tell(PeerId replica, const raft::TimeoutNow& message,
                                            bool with_heartbeats = false);

  // Synced appends since a replica's start: their number, and their bytes.
  using Syncs = std::pair<std::uint64_t, std::uint64_t>;
  // Those to its log.
  Syncs written(PeerId replica) const { return written_[static_cast<std::size_t>(replica)]; }
  // Those that it has given to MeasureSync. It finds nobody slow from now on.
  Syncs Measured(PeerId replica);

  HandoverChecker& checker;

 private:
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnRestart(PeerId replica, Time now) override;
  std::vector<PeerReport> AllWell(PeerId but) const;
  template <typename Request>
  struct Asked {
    bool is_over = false;
    std::optional<typename Request::Reply> answer = std::nullopt;
  };
  template <typename Request>
  std::shared_ptr<Asked<Request>> Ask(PeerId replica, const Request& request);
  // Runs until the replica has answered. Nothing without an answer.
  template <typename Request>
  std::optional<typename Request::Reply> AnswerOf(const std::shared_ptr<Asked<Request>>& asked);

  std::vector<Syncs> written_;

  testkit::Client client_;
};

}  // namespace depfast::adr
