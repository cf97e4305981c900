// UnfinishedWork: the coroutines that have not ended and the calls that have no answer.
//
// Each holds memory, and no queue shows it. A replica that starts a coroutine or a call for every
// command, and lets it wait for a slow peer, has an unbounded backlog (document 000, section 4.4).
#pragma once

#include <cstdint>
#include <map>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depfast/host/probe.h"
#include "depfast/peer.h"

namespace depfast {

// The coroutines of one name, or the calls of one name to one peer.
struct UnfinishedRow {
  static constexpr PeerId kNoPeer = -1;

  std::string name;
  PeerId peer = kNoPeer;   // kNoPeer: coroutines
  std::uint64_t now = 0;   // that have not ended, or that are outstanding
  std::uint64_t most = 0;  // at one time
  MSGPACK_DEFINE(name, peer, now, most)
};

class UnfinishedWork final : public ReportingProbe {
 public:
  static constexpr const char* kName = "unfinished";  // see MakeProbe

  // In the order of names, and of peers.
  std::vector<UnfinishedRow> Rows() const;

  std::string Report(const Runtime& runtime) const override;
  // The rows of a report; nothing if it is malformed.
  static std::optional<std::vector<UnfinishedRow>> Read(std::string_view report);

  void OnSpawn(const Runtime& runtime, const Task& task) override;
  void OnEnd(const Runtime& runtime, const Task& task) override;
  void OnCall(const Runtime& runtime, const Task& caller, const RpcCall& call) override;
  void OnReply(const Runtime& runtime, const RpcCall& call) override;
  void OnRelease(const Runtime& runtime, const RpcCall& call) override;

 private:
  struct Count {
    std::uint64_t now = 0;
    std::uint64_t most = 0;
  };

  Count& CountOf(const char* name, PeerId peer) { return counts_[{name, peer}]; }
  void Begin(const char* name, PeerId peer);
  void End(const char* name, PeerId peer) { --CountOf(name, peer).now; }

  std::map<std::pair<std::string, PeerId>, Count> counts_;
};

}  // namespace depfast
