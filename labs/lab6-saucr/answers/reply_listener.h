// ReplyListener: what a replica does with each reply of a broadcast, whether or not it waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "depfast/broadcast.h"
#include "depfast/event.h"

namespace depfast::saucr {

// Nobody waits for it. Keep it until the replies no longer matter.
template <typename Request>
class ReplyListener final : public Event {
 public:
  using Reply = typename Request::Reply;
  using Take = std::function<void(PeerId peer, const Reply& reply)>;

  explicit ReplyListener(Take take) : take_(std::move(take)) {}
  // Calls `take` for each reply, once.
  static std::shared_ptr<ReplyListener> To(const Broadcast<Request>& calls, Take take) {
    const auto listener = std::make_shared<ReplyListener>(std::move(take));
    for (const auto& call : calls.calls()) call->NotifyOnDecision(listener);
    return listener;
  }

  bool IsReady() const override { return false; }
  std::string Describe() const override { return "ReplyListener"; }
  const char* Label() const override { return "replies"; }

 private:
  void OnChildDecided(Event& child) override {
    const auto& call = static_cast<const RpcEvent<Reply>&>(child);
    if (call.IsReady()) take_(call.peer(), call.reply());
  }

  const Take take_;
};

}  // namespace depfast::saucr
