// KvAudit, KvRestore and KvExecute: a test's questions about snapshots. Given, not submitted: the
// driver asks your store, and the test judges the answers in another process (SnapshotAudit).
//
// A replica under test gets a KvAudit. The two others go to a fresh process of the same program,
// which has nothing but the bytes that the test gives it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/host/frame.h"

namespace depfast::kv {

struct KvAuditReply {
  std::string snapshot;
  std::string error;  // why there is no snapshot; empty if there is one
  DEPFAST_FIELDS(snapshot, error)
};

// Asks for the snapshot of now.
struct KvAudit {
  using Reply = KvAuditReply;
  static constexpr MethodId kMethod = 17;
  static constexpr const char* kName = "KvAudit";

  std::uint64_t number = 0;  // any
  DEPFAST_FIELDS(number)
};

struct KvRestoreReply {
  bool is_restored = false;
  bool is_refused = false;  // by a std::runtime_error
  std::string error;
  DEPFAST_FIELDS(is_restored, is_refused, error)
};

// Restores a snapshot over any state.
struct KvRestore {
  using Reply = KvRestoreReply;
  static constexpr MethodId kMethod = 18;
  static constexpr const char* kName = "KvRestore";

  std::string snapshot;
  DEPFAST_FIELDS(snapshot)
};

struct KvExecuteReply {
  std::vector<std::string> replies;
  std::string snapshot;  // of the state before the commands: its pieces, taken between them
  DEPFAST_FIELDS(replies, snapshot)
};

// Expects these encoded commands, and applies them at their indexes, while a snapshot in pieces is
// taken.
struct KvExecute {
  using Reply = KvExecuteReply;
  static constexpr MethodId kMethod = 19;
  static constexpr const char* kName = "KvExecute";

  std::vector<std::uint64_t> indexes;
  std::vector<std::string> commands;  // as many
  std::uint64_t piece_bytes = 0;
  DEPFAST_FIELDS(indexes, commands, piece_bytes)
};

}  // namespace depfast::kv
