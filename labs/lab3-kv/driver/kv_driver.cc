// Any replica takes a client's command: it sends the command to every proposer of the log, and
// passes on the first answer.
#include "kv_driver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "audited_store.h"
#include "depfast/host/service.h"
#include "first_answer.h"
#include "kv_audit.h"
#include "kv_commands.h"
#include "kv_errors.h"
#include "kv_messages.h"
#include "kv_service.h"
#include "kv_store.h"
#include "replicated_log.h"

namespace depfast::kv {
namespace {

constexpr Duration kForwardTimeout = 1s;

// The latest numbers: the network delivers the second copy of a message soon after the first.
class SeenLately {
 public:
  // Returns whether the number is new.
  bool Add(std::uint64_t number) {
    constexpr std::size_t kLately = 10'000;
    if (!seen_.insert(number).second) return false;
    order_.push_back(number);
    if (order_.size() > kLately) {
      seen_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

 private:
  std::unordered_set<std::uint64_t> seen_;
  std::deque<std::uint64_t> order_;
};

// Sends a client the first answer that decides its command.
class Relay {
 public:
  Relay(Responder<Reply> client, int asked) : client_(std::move(client)), answers_(asked) {}

  void Take(const Reply& reply) {
    const CommandOutcome here = OutcomeIn(reply);
    const auto outcome = answers_.Add(here);
    if (outcome) client_.Send(*outcome == here ? reply : UnknownOutcome());
  }

 private:
  const Responder<Reply> client_;
  FirstAnswer answers_;
};

class KvDriver final : public Service {
 public:
  explicit KvDriver(Runtime& runtime)
      : runtime_(runtime),
        audited_(store_),
        log_(MakeReplicatedLog(runtime, audited_)),
        service_(*log_, store_) {}

  void Start() override {
    runtime_.rpc().HandleInline<KvRequest>(
        [this](const KvRequest& request, const Responder<Reply>& responder) {
          Serve(request, responder);
        });
    runtime_.rpc().HandleInline<KvAudit>(
        [this](const KvAudit&, const Responder<KvAuditReply>& responder) {
          responder.Send(audited_.Audit());
        });
    log_->Start();
  }

 private:
  void Serve(const KvRequest& request, const Responder<Reply>& responder) {
    if (request.forward_id != 0) {
      if (!forwarded_.Add(request.forward_id)) return;
      service_.Execute(request.command, responder.dependency(),
                       [responder](const Reply& reply) { responder.Send(reply); });
      return;
    }
    const std::vector<PeerId> proposers = log_->proposers();
    if (proposers.empty()) {
      responder.Send(TryAgain());
      return;
    }
    const auto relay = std::make_shared<Relay>(responder, static_cast<int>(proposers.size()));
    // Several proposers know a command by its dependency (ReplicatedLog::Submit). Clients number
    // their requests from 1, so two clients may use one number: draw another.
    const Dependency client =
        proposers.size() == 1 ? responder.dependency() : Dependency::Client(RandomNumber());
    for (const PeerId proposer : proposers) Ask(proposer, request.command, client, relay);
  }

  void Ask(PeerId proposer, const Command& command, const Dependency& client,
           const std::shared_ptr<Relay>& relay) {
    if (proposer == runtime_.self()) {
      service_.Execute(command, client, [relay](const Reply& reply) { relay->Take(reply); });
      return;
    }
    runtime_.Spawn("forward", [this, proposer, command, client, relay] {
      runtime_.set_dependency(client);
      relay->Take(Forward(proposer, command));
    });
  }

  // A reply that is lost leaves the outcome of a command unknown, unless it only reads.
  Reply Forward(PeerId proposer, const Command& command) {
    const KvRequest request{command, RandomNumber()};
    const auto call = runtime_.rpc().Call(proposer, request, kForwardTimeout);
    if (call->Wait() == Outcome::kReady) return call->reply();
    const CommandForm* const form = command.empty() ? nullptr : FindCommand(command.front());
    return form == nullptr || form->reads ? TryAgain() : UnknownOutcome();
  }

  // Above 0.
  std::uint64_t RandomNumber() {
    return static_cast<std::uint64_t>(
        runtime_.RandomBetween(1, std::numeric_limits<std::int64_t>::max()));
  }

  Runtime& runtime_;
  KvStore store_;
  AuditedStore audited_;
  const std::unique_ptr<ReplicatedLog> log_;
  KvService service_;
  SeenLately forwarded_;
};

}  // namespace

std::unique_ptr<Service> MakeKvDriver(Runtime& runtime) {
  return std::make_unique<KvDriver>(runtime);
}

}  // namespace depfast::kv
