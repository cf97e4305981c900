// Broadcast: the outstanding calls of one fan-out.
//
// Knowing that five calls belong together is what lets the runtime drop the rest once a quorum has
// answered (document 002, section 2.2): the frames a slow peer has not taken yet are released, so
// its backlog ends here and not in the sender's memory.
#pragma once

#include <memory>
#include <vector>

#include "depfast/rpc.h"
#include "depfast/runtime.h"

namespace depfast {

// The part that does not depend on the reply's type: what Finalize works on.
class BroadcastCalls {
 public:
  explicit BroadcastCalls(Rpc& rpc) : rpc_(rpc) {}
  virtual ~BroadcastCalls() = default;

  // The peers that have neither answered nor failed, in the order of the fan-out.
  std::vector<PeerId> Stragglers() const;

  // Gives up the stragglers' calls, and only these: frames not yet on the wire are dropped, late
  // replies ignored. Harmless when there are none, and to call twice.
  void Release();

  // Counts a call in: for a fan-out whose requests differ from peer to peer.
  void Include(std::shared_ptr<RpcCall> call) { all_.push_back(std::move(call)); }

  std::size_t size() const { return all_.size(); }

 private:
  Rpc& rpc_;
  std::vector<std::shared_ptr<RpcCall>> all_;
};

template <typename Request>
class Broadcast : public BroadcastCalls {
 public:
  using Call = std::shared_ptr<RpcEvent<typename Request::Reply>>;

  // Sends `request` to every peer at once; waits for nobody. With a timeout each call fails on its
  // own after it; usually the quorum's Wait has the timeout, and Release ends the calls.
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
