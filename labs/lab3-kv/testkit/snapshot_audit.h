// SnapshotAudit: whether snapshots hold the state of a store.
//
// The bytes of a snapshot go to a fresh process of the program under test, which restores them. It
// gets the entries that follow, and must give the replies of the rules, and in the end the snapshot
// that a replica had after the same entries. That process is in a simulation of its own: it has
// nothing of a replica but the bytes, and the verdict is here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kv_audit.h"
#include "kv_messages.h"
#include "sim/simulator.h"
#include "testkit/client.h"

namespace depfast::kv {

class SnapshotAudit {
 public:
  SnapshotAudit();

  // The entry that was applied next, and its reply. Entries without a command need not be told.
  void AddEntry(std::uint64_t index, const Command& command, const Reply& reply);

  // Returns the first problem of a snapshot that is said to be the state after entry `index`, as
  // the end of a sentence about its replica; empty if there is none. Requires: the entries up to
  // `index` were added.
  std::string WhyNot(std::uint64_t index, const std::string& snapshot);
  // Judges a snapshot that may be the state after any entry.
  std::string WhyNotRestored(const std::string& snapshot);

  // Whether the problem is that replicas with the same entries may have different states.
  bool states_differ() const { return states_differ_; }

 private:
  struct Entry {
    std::string command;
    Reply reply;
  };

  // Each of these returns a problem, or an empty text.
  std::string Begin(const std::string& snapshot);
  std::string RestoreOver(const std::string& snapshot);
  std::string Execute(std::uint64_t after, std::uint64_t up_to, const std::string& before);
  std::string ExecuteSome(const KvExecute& some, const std::vector<const Reply*>& replies,
                          std::string& before);
  std::string RefuseDamage(const std::string& snapshot, const std::string& state);
  std::string RestoreWithAnotherEnd(std::string snapshot, const std::string& state);
  std::string WhyNotRefused(const KvRestoreReply& reply, const std::string& state);
  std::string Differs(std::string problem);
  std::string Follow(std::uint64_t from, std::uint64_t to);

  // The answer of the fresh process; nothing if it has none.
  template <typename Request>
  std::optional<typename Request::Reply> Ask(const Request& request);
  std::string Silence() const;  // why there is no answer
  // The snapshot of the fresh process's state.
  std::optional<std::string> State();

  sim::Simulator simulator_;
  testkit::Client client_;
  std::map<std::uint64_t, Entry> entries_;
  std::map<std::uint64_t, std::string> states_;  // by index: the snapshots that were right
  bool states_differ_ = false;
};

}  // namespace depfast::kv
