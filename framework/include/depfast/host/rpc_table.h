// RpcTable: outstanding calls and handlers, as bytes. Rpc (rpc.h) adds the types.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "depfast/dependency.h"
#include "depfast/host/frame.h"
#include "depfast/host/host.h"
#include "depfast/rpc_event.h"
#include "depfast/time.h"

namespace depfast {

class Runtime;

// Errors on the wire, counted. A malformed frame has no other effect.
struct RpcCounters {
  std::uint64_t malformed_frames = 0;
  std::uint64_t unknown_methods = 0;
  std::uint64_t stray_replies = 0;        // late, released or never asked for
  std::uint64_t background_requests = 0;  // served without a dependency id
};

class RpcTable {
 public:
  // Both outlive the table.
  RpcTable(Host& host, Runtime& runtime);
  RpcTable(const RpcTable&) = delete;
  RpcTable& operator=(const RpcTable&) = delete;

  // Called by the runtime with each frame the host delivers.
  void Deliver(PeerId from, std::string_view bytes);

  // See Rpc::Release.
  void Release(RpcCall& call);

  // Answers the request of that header.
  template <typename ReplyType>
  void Respond(PeerId peer, FrameHeader header, const ReplyType& reply) {
    header.kind = FrameKind::kReply;
    SendAnswer(peer, header.dependency, EncodeFrame(header, reply));
  }

  // A reply to a client in this process counts as an answer.
  void CountAnswer(PeerId peer, const Dependency& dependency);

  const RpcCounters& counters() const { return counters_; }
  // The reason of the latest malformed frame; empty if there was none.
  const std::string& last_malformed() const { return last_malformed_; }
  // The host has lost its connection to a peer, or has it again. A host without connections never
  // says so: a simulated network loses frames, and tells nobody.
  void DeliverLink(PeerId peer, bool is_up);
  // Whether the host has said so of any peer yet.
  bool HasConnections() const { return has_connections_; }
  // Whether the connection to the peer is lost at present. Frames for the peer wait until it is
  // back, and calls of the peer until their timeout.
  bool HasLost(PeerId peer) const { return lost_.contains(peer); }
  // Whether any peer is lost.
  bool HasLostAny() const { return !lost_.empty(); }
  // Calls `on_lost` with each peer that is lost from now on. It must not wait. The peer may or may
  // not have done the earlier requests. Earlier callbacks stay, and are called first.
  void WhenLost(std::function<void(PeerId)> on_lost) { on_lost_.push_back(std::move(on_lost)); }

  // Calls without an answer yet.
  std::size_t outstanding() const;
  // The names of the methods that have handlers.
  std::map<MethodId, std::string> MethodNames() const;

 protected:
  // Decodes and serves one request. Returns false for a malformed body, with the reason in `error`.
  using Server =
      std::function<bool(PeerId, const FrameHeader&, std::string_view body, std::string& error)>;

  ~RpcTable();

  // Serves a method from now on. `name` is a string literal. Throws std::logic_error if the method
  // is served already: a handler of given code must not be replaced. `inline_handler`: as Rpc knows
  // it, if it serves clients in this process, too.
  void Serve(MethodId method, const char* name, Server server,
             std::any inline_handler = std::any());
  // A request of a client in this process has come. Null if no handler serves its method.
  const std::any* FindInlineHandler(PeerId from, const FrameHeader& header);

  CallId NextCall();
  Dependency CurrentDependency() const;
  // Sends the request of a call, and expects its reply. The calls of one broadcast share an id.
  void Register(const std::shared_ptr<RpcCall>& call, CallId id, const CarriedEntries& carried,
                const Bytes& bytes, Duration timeout);
  void SendError(PeerId peer, const FrameHeader& request, RpcError error);
  // The handler of `method` has thrown: the caller gets an error, and the author a note.
  void Reject(PeerId peer, const FrameHeader& request, const char* method,
              const std::exception& thrown);
  void NoteThrown(const char* method, const std::exception& thrown);
  void SpawnHandler(const char* name, const Dependency& dependency, std::function<void()> body);

 private:
  struct Method {
    const char* name;
    Server serve;
    std::any inline_handler;
  };

  // A request has come. Null if no handler serves its method.
  const Method* FindMethod(PeerId from, const FrameHeader& request);

  void Forget(RpcCall& call);  // the reply is no longer expected
  void Decide(RpcCall& call);  // its reply or error is set: tells probes, then waiters
  void SendAnswer(PeerId peer, const Dependency& dependency, std::string bytes);
  void DeliverRequest(PeerId from, const DecodedFrame& frame);
  void DeliverReply(PeerId from, const DecodedFrame& frame);
  void DropStrayReply(PeerId from, CallId call);
  void CountMalformed(PeerId from, const std::string& reason);

  Host& host_;
  Runtime& runtime_;
  CallId last_call_ = 0;  // 0: none yet
  std::map<MethodId, Method> methods_;
  // Outstanding calls: a broadcast shares one id among its peers, so the peer is part of the key.
  std::map<PeerId, std::unordered_map<CallId, std::shared_ptr<RpcCall>>> calls_;
  bool has_connections_ = false;
  std::set<PeerId> lost_;
  std::vector<std::function<void(PeerId)>> on_lost_;
  RpcCounters counters_;
  std::string last_malformed_;
};

}  // namespace depfast
