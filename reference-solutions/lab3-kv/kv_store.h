// The key-value store: the state machine that the log is applied to (lab 3).
//
// Its state is two tables, keys and sessions. It is a function of the log alone: it does not depend
// on a clock, a random draw or an address. So all replicas have equal states after the same entry.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kv_commands.h"
#include "kv_messages.h"
#include "snapshot_map.h"
#include "state_machine.h"

namespace depfast::kv {

class KvStore final : public StateMachine {
 public:
  // Executes the encoded command (EncodeCommand) at `index`, and returns the encoded reply.
  std::string Apply(std::uint64_t index, std::string_view command) override;

  // Looks up the first key of each.
  void Expect(std::span<const std::string_view> commands) override;

  // Keys, values and sessions. The same bytes for the same state.
  std::string Snapshot() const override;
  void Restore(std::string_view snapshot) override;
  std::unique_ptr<SnapshotPieces> StartSnapshot() override;

  // Executes a command that only reads (CommandForm::reads) on the current state.
  // Requires: FindError(command) finds no error.
  Reply Read(const Command& command) const;

 private:
  class Pieces;

  using SessionId = std::uint64_t;  // the index of the entry that made the session

  // The session of a client whose commands are executed exactly once (Ongaro's thesis,
  // section 6.3).
  struct Session {
    std::uint64_t entries = 0;        // the session expires after more entries without its use
    std::uint64_t last_used = 0;      // the index of the latest entry that named the session
    std::uint64_t last_sequence = 0;  // of the latest executed command; 0: none yet
    Reply last_reply;                 // the reply to that command
    DEPFAST_FIELDS(entries, last_used, last_sequence, last_reply)

    std::uint64_t last_entry() const { return last_used + entries; }
  };

  Reply Execute(std::uint64_t index, const Command& command);
  Reply Write(Verb verb, const Command& command);
  Reply Increment(const std::string& key);
  Reply Append(const std::string& key, const std::string& value);
  Reply CompareAndSet(const Command& command);

  Reply OpenSession(std::uint64_t index, const Command& command);
  Reply ExecuteOnce(std::uint64_t index, const Command& command);
  void ExpireSessions(std::uint64_t index);
  void IndexSessions();

  // The value of `key`, or nothing if the key is absent.
  std::optional<std::string> ValueOf(const std::string& key) const;

  SnapshotMap<std::string, std::string> values_;
  SnapshotMap<SessionId, Session> sessions_;
  // Invariant: holds (last_entry(), id) for each of sessions_, sorted by the last live index.
  std::set<std::pair<std::uint64_t, SessionId>> expiry_;
  std::vector<std::string> expected_keys_;  // no state: their memory serves every Expect
};

}  // namespace depfast::kv
