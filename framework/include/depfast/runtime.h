// Runtime: one replica's coroutines, RPC and storage.
//
// A replica works in steps. In a step its host delivers frames, disk completions and the passing of
// time. Then coroutines run until every one of them waits. Between steps nothing happens, so a
// replica is a deterministic function of these deliveries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "depfast/dependency.h"
#include "depfast/host/groups.h"
#include "depfast/host/host.h"
#include "depfast/peer.h"
#include "depfast/rpc.h"
#include "depfast/storage.h"
#include "depfast/time.h"

namespace depfast {

class Scheduler;
struct RuntimeOptions;

// The part for a replica's code. The host has the rest: HostedRuntime (host/hosted_runtime.h).
class Runtime {
 public:
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // The runtime whose step is running on this thread. Requires: there is one.
  static Runtime& Current();

  // The replica's id among the replicas of its group, which are 0 .. replicas() - 1.
  PeerId self() const { return self_; }
  int replicas() const { return groups_.size(group_); }
  // The group's replicas but this one, ascending.
  const std::vector<PeerId>& peers() const { return peers_; }

  // A cluster is one group unless its test or its operator says otherwise. A replica calls the
  // members of other groups like its peers, by PeerOf, and handlers see their ids as senders.
  int group() const { return group_; }
  const Groups& groups() const { return groups_; }
  // The id by which this replica names a member of a group. Requires: there is such a member.
  PeerId PeerOf(int group, PeerId member) const {
    return groups_.IdIn(group_, groups_.AddressOf(group, member));
  }
  // The replica's number in the whole cluster: for reports.
  PeerId address() const { return address_; }

  // Constant within a step.
  Time Now() const { return host_.Now(); }

  // Starts a coroutine. It runs after the running one waits or ends, in order of creation, and
  // carries the creator's dependency. `name` must be a string literal: dumps, warnings and
  // reports use it, also after the coroutine has ended.
  void Spawn(const char* name, std::function<void()> body);

  // Suspends the running coroutine. Requires: duration >= 0.
  void Sleep(Duration duration);

  // Lets every other runnable coroutine run before the running one goes on.
  void Yield();

  // A number in [low, high], from this replica's own stream. Requires: low <= high.
  std::int64_t RandomBetween(std::int64_t low, std::int64_t high);
  Duration RandomBetween(Duration low, Duration high);

  // Makes a claim about this replica, for tests. The lab's schema defines the kinds of claims.
  void Observe(const Observation& observation) { host_.Observe(observation); }

  // Bytes queued for a peer that the wire has not taken yet.
  std::size_t HeldBytes(PeerId peer) { return host_.HeldBytes(peer); }

  // The work that the running coroutine belongs to; none outside a coroutine.
  Dependency dependency() const;
  void set_dependency(const Dependency& dependency);

  Rpc& rpc() { return rpc_; }
  const Rpc& rpc() const { return rpc_; }
  Storage& storage() { return storage_; }

  // For the framework: events, calls and probes use it.
  Scheduler& scheduler() { return *scheduler_; }
  const Scheduler& scheduler() const { return *scheduler_; }

 protected:
  Runtime(Host& host, const RuntimeOptions& options);
  ~Runtime();

  // The id of the node at an address.
  PeerId IdOf(PeerId address) const { return groups_.IdIn(group_, address); }

 private:
  const Groups groups_;
  const PeerId address_;
  const int group_;
  const PeerId self_;
  const std::vector<PeerId> peers_;
  const std::unique_ptr<Host> group_host_;  // null in a cluster of one group

 protected:
  Host& host_;
  Rpc rpc_;
  Storage storage_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace depfast
