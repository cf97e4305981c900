// KvWorld: the world of every test of the store: a cluster, the checker of the log below, and a
// client. It keeps a history of commands, and checks at the end that the history is linearizable.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kv_audit.h"
#include "kv_checker.h"
#include "kv_client.h"
#include "linearizability/linearizability.h"
#include "linearizability/replies.h"
#include "log_world.h"
#include "snapshot_audit.h"
#include "testkit/client.h"

namespace depfast::kv {

// Whether a world looks into snapshots (SnapshotAudit). Tests of commands, sessions and reads do
// not: students who have not written snapshots yet pass them.
enum class Snapshots { kNotAudited, kAudited };

class KvWorld : public LogWorld {
 public:
  // Starts the replicas.
  explicit KvWorld(const testkit::ClusterOptions& options,
                   Snapshots snapshots = Snapshots::kNotAudited);
  // Adds a violation to the report of a test.
  ~KvWorld();

  // Executes one command and runs until its reply is there. An error named "TEST" if there is none:
  // the outcome is unknown.
  Reply Do(const Command& command);
  Reply Do(const std::string& line) { return Do(Words(line)); }
  // Does it at one replica, once.
  Reply DoAt(PeerId replica, const Command& command);
  // Does it in a session: sent again until there is a reply.
  Reply DoInSession(std::int64_t session, std::uint64_t sequence, const std::string& line);

  // LogWorld's, then audits, if snapshots are audited.
  PeerId WaitForProposer(Duration at_most = 3s);

  // LogWorld's, after an audit. The rules of the store have held (KvChecker). If snapshots are
  // audited, they hold the state, and replicas that have applied the same entries have the same
  // state. The end of every test.
  testing::AssertionResult AllInvariantsHold();

  // If snapshots are audited: audits every replica that is up, and the snapshot on every disk.
  void Audit();

  // The length of the longest snapshot that the latest audit has found.
  std::size_t snapshot_bytes() const { return snapshot_bytes_; }

  const KvChecker& checker() const { return checker_; }

  // `prefix`: SESSION id seq.
  Reply DoInSession(Command prefix, const Command& command);

  // SESSION NEW [entries]. Its id, or -1.
  std::int64_t OpenSession(std::uint64_t entries = 0);

  // Executes `command` without waiting, as client number `who`, and adds it to the history. Calls
  // `then` when the command has ended.
  void Start(KvClient& client, int who, const Command& command,
             std::function<void(const KvOutcome&)> then = nullptr);
  const KvHistory& operations() const { return operations_; }

  // AllInvariantsHold, and the history of Start is linearizable. The number of operations that
  // were checked is added to the test's property "operations".
  testing::AssertionResult IsLinearizable();

  KvClient client;

 private:
  // Runs until `outcome` is there.
  Reply Await(const std::function<void(KvClient::Done)>& start);

  // The window that is not linearizable, for the picture.
  void RecordWindow(const KvHistory& history, const LinearizabilityResult& result);

  // `applied`: the replica's last entry when it was asked.
  void OnAudit(PeerId replica, std::uint64_t applied, const std::optional<KvAuditReply>& reply);
  void AuditDisk(PeerId replica);
  void AddAuditProblem(PeerId replica, const std::string& what);

  KvChecker checker_;
  testkit::Client auditor_;
  std::unique_ptr<SnapshotAudit> audit_;  // null if snapshots are not audited
  std::string audit_problem_;             // the first; empty if there is none
  std::size_t snapshot_bytes_ = 0;
  KvHistory operations_;
};

}  // namespace depfast::kv
