// The replica program of the key-value lab: a Raft, your store as its state machine, and your
// service between clients and both. A replica that does not lead passes commands on to the leader.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>

#include "depfast/host/service.h"
#include "kv_commands.h"
#include "kv_errors.h"
#include "kv_messages.h"
#include "kv_service.h"
#include "kv_store.h"
#include "raft.h"

namespace depfast::kv {
namespace {

constexpr Duration kForwardTimeout = 1s;

// The numbers that were seen lately: a message that the network doubles is not far behind itself.
class SeenLately {
 public:
  // Whether it is the first time.
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

class KvDriver final : public Service {
 public:
  explicit KvDriver(Runtime& runtime)
      : runtime_(runtime), raft_(runtime, store_), service_(raft_, store_) {}

  void Start() override {
    runtime_.rpc().HandleInline<KvRequest>(
        [this](const KvRequest& request, const Responder<Reply>& responder) {
          Serve(request, responder);
        });
    raft_.Start();
  }

 private:
  void Serve(const KvRequest& request, const Responder<Reply>& responder) {
    const bool is_forwarded = request.forward_id != 0;
    const PeerId leader = raft_.leader();
    if (is_forwarded && !forwarded_.Add(request.forward_id)) return;
    if (is_forwarded || leader == runtime_.self()) {
      service_.Execute(request.command, responder.dependency(),
                       [responder](const Reply& reply) { responder.Send(reply); });
    } else if (leader == raft::kNobody) {
      responder.Send(TryAgain());
    } else {
      runtime_.Spawn("forward", [this, command = request.command, responder, leader] {
        runtime_.set_dependency(responder.dependency());
        responder.Send(Forward(leader, command));
      });
    }
  }

  // A reply that is lost leaves the fate of a command unknown, unless it only reads.
  Reply Forward(PeerId leader, const Command& command) {
    const std::int64_t id = runtime_.RandomBetween(1, std::numeric_limits<std::int64_t>::max());
    const KvRequest request{command, static_cast<std::uint64_t>(id)};
    const auto call = runtime_.rpc().Call(leader, request, kForwardTimeout);
    if (call->Wait() == Outcome::kReady) return call->reply();
    const CommandForm* const form = command.empty() ? nullptr : FindCommand(command.front());
    return form == nullptr || form->reads ? TryAgain() : UnknownOutcome();
  }

  Runtime& runtime_;
  KvStore store_;
  raft::Raft raft_;
  KvService service_;
  SeenLately forwarded_;
};

}  // namespace
}  // namespace depfast::kv

namespace depfast {

std::unique_ptr<Service> MakeService(Runtime& runtime) {
  return std::make_unique<kv::KvDriver>(runtime);
}

}  // namespace depfast
