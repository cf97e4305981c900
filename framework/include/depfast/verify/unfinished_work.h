// UnfinishedWork: the coroutines that have not ended and the calls that have no answer.
//
// Each holds memory, and no queue shows it. A replica that starts a coroutine or a call for every
// command, and lets it wait for a slow peer, has an unbounded backlog (document 000, section 4.4).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "depfast/host/frame.h"
#include "depfast/host/probe.h"
#include "depfast/peer.h"

namespace depfast {

// The coroutines of one name, or the calls of one method to one peer.
struct UnfinishedRow {
  static constexpr PeerId kNoPeer = -1;

  std::string name;        // of a method: the label of the first call
  PeerId peer = kNoPeer;   // kNoPeer: coroutines
  std::uint64_t now = 0;   // that have not ended, or that are outstanding
  std::uint64_t most = 0;  // at one time
  MethodId method = 0;     // 0: coroutines
  DEPFAST_FIELDS(name, peer, now, most, method)
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

    void Begin() { most = std::max(most, ++now); }
    void End() { --now; }
  };

  Count& Of(const Task& task) { return counts_[{task.name, UnfinishedRow::kNoPeer, 0}]; }
  // By the method, and not by the label: a solution chooses the label, and may change it.
  Count& Of(const RpcCall& call);

  std::map<MethodId, std::string> names_;
  std::map<std::tuple<std::string, PeerId, MethodId>, Count> counts_;
};

}  // namespace depfast
