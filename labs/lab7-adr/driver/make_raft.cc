// The replicated log of lab 7 is the student's Raft, which asks for the replica's health.
#include <memory>
#include <utility>

#include "health.h"
#include "planted_health.h"
#include "raft.h"
#include "replicated_log.h"

namespace depfast {
namespace {

class WatchedRaft final : public ReplicatedLog {
 public:
  WatchedRaft(Runtime& runtime, StateMachine& machine)
      : runtime_(runtime), own_(runtime), raft_(runtime, machine, health_) {}

  void Start() override {
    runtime_.rpc().HandleInline<adr::PlantHealth>(
        [this](const adr::PlantHealth& planted, const Responder<adr::PlantHealthReply>& to) {
          to.Send(health_.Plant(planted));
        });
    own_.Start();
    raft_.Start();
  }
  void Submit(std::string command, const Dependency& client, SubmitDone done) override {
    raft_.Submit(std::move(command), client, std::move(done));
  }
  void ReadIndex(const Dependency& client, ReadDone done) override {
    raft_.ReadIndex(client, std::move(done));
  }
  std::vector<PeerId> proposers() const override { return raft_.proposers(); }
  // Other replicas would send a leader's clients back to it.
  bool SendsClientsAway() const override {
    return own_.sends_clients_away() && proposers() != std::vector{runtime_.self()};
  }

 private:
  Runtime& runtime_;
  adr::Health own_;
  adr::PlantableHealth health_{&own_};
  raft::Raft raft_;
};

}  // namespace

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  return std::make_unique<WatchedRaft>(runtime, machine);
}

}  // namespace depfast
