// KvWorld: what every test of the store begins with: a cluster, Raft's invariants, a client, and a
// history of commands whose linearizability is checked at the end.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kv_client.h"
#include "linearizability/linearizability.h"
#include "linearizability/replies.h"
#include "raft_checker.h"
#include "testkit/cluster.h"

namespace depfast::kv {

class KvWorld {
 public:
  // Starts the replicas.
  explicit KvWorld(const testkit::ClusterOptions& options);
  // A test that fails early may fail because of a violation, or a death: then this says so.
  ~KvWorld();
  KvWorld(const KvWorld&) = delete;
  KvWorld& operator=(const KvWorld&) = delete;

  // Runs until some replica leads and has opened its term. Returns it, or kNobody.
  PeerId WaitForLeader(Duration at_most = 3s);

  // Executes one command and runs until its reply is there. An error named "TEST" if there is none:
  // the outcome is unknown.
  Reply Do(const Command& command);
  Reply Do(const std::string& line) { return Do(Words(line)); }
  // The same at one replica, once.
  Reply DoAt(PeerId replica, const Command& command);
  // The same in a session: sent again until there is a reply.
  Reply DoInSession(std::int64_t session, std::uint64_t sequence, const std::string& line);

  // SESSION NEW [entries]. Its id, or -1.
  std::int64_t OpenSession(std::uint64_t entries = 0);

  // Executes `command` without waiting, as client `who`, and puts it into the history. `then` is
  // called when it has ended.
  void Start(KvClient& client, int who, const Command& command,
             std::function<void(const KvOutcome&)> then = nullptr);
  const KvHistory& operations() const { return operations_; }

  // Runs until every replica that is up has applied all that is committed.
  bool WaitForAllApplied(Duration at_most = 4s);

  // The bytes of a replica's log on disk, and whether it has a snapshot.
  std::size_t LogBytes(PeerId replica);
  bool HasSnapshot(PeerId replica);

  // No replica died by itself, and no invariant of Raft was violated. The end of every test.
  testing::AssertionResult IsSound() const;
  // And what clients of Start saw is linearizable. The number of operations that were checked is
  // added to the test's property "operations".
  testing::AssertionResult IsLinearizable() const;

  std::vector<PeerId> Others(PeerId replica) const;

  testkit::Cluster cluster;
  raft::RaftChecker checker;
  KvClient client;

 private:
  // Runs until `outcome` is there.
  Reply Await(const std::function<void(KvClient::Done)>& start);

  KvHistory operations_;
};

}  // namespace depfast::kv
