// TwoProposerLog: a replicated log with two proposers, for tests of code that runs on any log. It
// has the interface of a log, but it is not fault-tolerant: nothing is on a disk, and the sequencer
// must not die.
//
// Replicas 0 and 1 propose; the last replica, the sequencer, puts commands in order and sends each
// to all replicas. A proposer that is slow or dead delays nothing at the other one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "depfast/host/codec.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "replicated_log.h"

namespace depfast {

inline constexpr PeerId kFirstProposer = 0;
inline constexpr PeerId kSecondProposer = 1;
inline constexpr std::uint32_t kTestApplyObservation = 1;  // index, CommandHash

struct PlaceReply {
  std::uint64_t index = 0;
  DEPFAST_FIELDS(index)
};

// From a proposer to the sequencer: puts a command into the log. An empty command asks for the last
// index only.
struct Place {
  using Reply = PlaceReply;
  static constexpr MethodId kMethod = 200;
  static constexpr const char* kName = "Place";
  std::string command;
  std::uint64_t name = 0;  // equal names are one command; 0: no name
  DEPFAST_FIELDS(command, name)
};

// From the sequencer to the other replicas: the command at `index`.
struct Learn {
  using Reply = PlaceReply;
  static constexpr MethodId kMethod = 201;
  static constexpr const char* kName = "Learn";
  std::uint64_t index = 0;
  std::string command;
  DEPFAST_FIELDS(index, command)
};

class TwoProposerLog final : public ReplicatedLog {
 public:
  // Both must outlive the log. Requires: three replicas or more.
  TwoProposerLog(Runtime& runtime, StateMachine& machine)
      : runtime_(runtime), machine_(machine), sequencer_(runtime.replicas() - 1) {}

  // See ReplicatedLog.
  void Start() override;
  void Submit(std::string command, const Dependency& client, SubmitDone done) override;
  void ReadIndex(const Dependency& client, ReadDone done) override;
  std::vector<PeerId> proposers() const override { return {kFirstProposer, kSecondProposer}; }

 private:
  bool Proposes() const { return runtime_.self() <= kSecondProposer; }
  std::uint64_t OnPlace(const Place& request);
  void OnLearn(std::uint64_t index, const std::string& command);
  // Asks the sequencer in a coroutine of its own, then calls `then` once: with the index, when this
  // replica has applied it, or with 0 if there was no answer.
  void AskSequencer(Place request, const Dependency& client,
                    std::function<void(std::uint64_t index)> then);

  Runtime& runtime_;
  StateMachine& machine_;
  const PeerId sequencer_;
  std::map<std::uint64_t, std::uint64_t> placed_;  // at the sequencer: index by name
  std::map<std::uint64_t, std::string> early_;     // learned before their predecessors, by index
  std::vector<std::string> results_;               // of the entries applied: index 1 is the first
  std::multimap<std::uint64_t, std::function<void()>> when_applied_;  // by index
};

}  // namespace depfast
