// ReplicatedLog: commands in one order on all replicas, by any protocol (Raft in lab 2). Given, not
// submitted: a service is written against this interface, and runs on any log.
//
// Each replica applies the committed commands to its StateMachine in the order of the log.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "depfast/dependency.h"
#include "depfast/runtime.h"
#include "state_machine.h"
#include "submit.h"

namespace depfast {

class ReplicatedLog {
 public:
  using SubmitDone = std::function<void(const SubmitReply&)>;
  using ReadDone = std::function<void(bool may_read)>;

  virtual ~ReplicatedLog() = default;

  // Registers the RPC handlers and recovers from disk; takes part once that is done. Called once.
  virtual void Start() = 0;

  // Proposes a command if this replica is a proposer. Calls `done` once, when the outcome of the
  // command is known. An empty command is refused with kNotProposer. Never waits; `done` must not
  // wait, either.
  //
  // `client`: the request that the command belongs to. A log with several proposers also takes a
  // client dependency as the name of the command. It applies the command once, although several
  // proposers, or one of them twice, were given a command with that dependency.
  virtual void Submit(std::string command, const Dependency& client, SubmitDone done) = 0;

  // Calls `done(true)` once the state machine of this replica may be read: it has applied every
  // command that any replica acknowledged before this call. In Raft that takes an entry of the
  // leader's own term, committed, and a majority's answers to messages sent after this call
  // (Ongaro's thesis, section 6.4). `done(false)` if this replica is no proposer, or loses track of
  // it. Calls `done` once in any case. Never waits; `done` must not wait, either.
  //
  // `client`: the request that the read belongs to. A coroutine that works for it first calls
  // Runtime::set_dependency(client), here as in Submit. Then reports show the messages as that
  // client's. For several requests at once, name the first. No rule of a lab depends on it.
  virtual void ReadIndex(const Dependency& client, ReadDone done) = 0;

  // The replicas that propose commands, as far as this replica knows, each once: one in Raft, the
  // leader; none if this replica knows of none. A command goes to all of them.
  virtual std::vector<PeerId> proposers() const = 0;

  // Whether this replica is slow and another one is not. Then its clients are refused, and go there
  // (lab 7, E1). Commands that other replicas forward are served.
  virtual bool SendsClientsAway() const { return false; }

  // An operator stops this replica in order: see Service::Stop.
  virtual void Stop() {}
};

// Makes the log of the replica program. Defined once per program, by the lab that chooses the log.
// `runtime` and `machine` must outlive the log.
std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine);

}  // namespace depfast
