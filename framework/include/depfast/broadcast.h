// Broadcast: the outstanding calls of one fan-out.
//
// A broadcast knows that its calls belong together, so it can drop the rest once a quorum has
// answered (document 002, section 2.2). It releases the frames that are not on the wire to a slow
// peer yet. This bounds the backlog in the sender's memory.
#pragma once

#include <memory>
#include <vector>

#include "depfast/rpc.h"
#include "depfast/runtime.h"

namespace depfast {

// The part that does not depend on the type of the reply. Finalize works on it. A copy has the same
// calls.
class BroadcastCalls {
 public:
  explicit BroadcastCalls(Rpc& rpc) : rpc_(rpc) {}

  // The peers that have neither answered nor failed, in the order of the fan-out.
  std::vector<PeerId> Stragglers() const;

  // Gives up the stragglers' calls, and only these: frames not yet on the wire are dropped, late
  // replies are ignored. Without stragglers, and when called again, it does nothing.
  void Release();

  // Adds a call, for a fan-out whose requests differ from peer to peer.
  void Include(std::shared_ptr<RpcCall> call) { all_.push_back(std::move(call)); }

  std::size_t size() const { return all_.size(); }
  // In the order of the fan-out.
  const std::vector<std::shared_ptr<RpcCall>>& all() const { return all_; }

 private:
  Rpc& rpc_;
  std::vector<std::shared_ptr<RpcCall>> all_;
};

template <typename Request>
class Broadcast : public BroadcastCalls {
 public:
  using Call = std::shared_ptr<RpcEvent<typename Request::Reply>>;

  // Sends `request` to every peer at once, without a wait. With a timeout, each call fails on its
  // own after it. Usually the quorum's Wait has the timeout, and Release ends the calls.
  Broadcast(Rpc& rpc, const std::vector<PeerId>& peers, const Request& request,
            Duration timeout = kForever)
      : BroadcastCalls(rpc), calls_(rpc.CallAll(peers, request, timeout)) {
    for (const Call& call : calls_) Include(call);
  }

  // One per peer, in the order given.
  const std::vector<Call>& calls() const { return calls_; }

 private:
  std::vector<Call> calls_;
};

}  // namespace depfast
