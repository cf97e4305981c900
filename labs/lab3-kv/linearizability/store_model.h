// The model of the whole store: the reply to each entry of the log, sessions and limits included.
// KvModel is the part without either.
//
// Tests run it over the log that the replicas have applied. The source is an answer to lab 3 and
// does not ship: see answers/CMakeLists.txt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "kv_messages.h"
#include "linearizability/kv_model.h"

namespace depfast::kv {

// Situations that the entries have met, by kind. A test asserts that its situations have happened.
struct SessionsMet {
  std::size_t opened = 0;
  std::size_t refused = 0;    // at kSessionsMax
  std::size_t retries = 0;    // the session's last number again
  std::size_t stale = 0;      // a lower number
  std::size_t malformed = 0;  // in a number, of an entry with the id of a live session
  std::size_t expired = 0;
  std::size_t last_uses = 0;  // at the last index at which the session lives

  SessionsMet& operator+=(const SessionsMet& more);
};

// Whether a number of a SESSION command is malformed or out of its range, in any state.
// Requires: FindError finds no error.
bool HasMalformedNumber(const Command& command);

class StoreModel {
 public:
  // Executes the command of the entry at `index`, and returns its reply. Requires: indexes rise;
  // those of no-ops are left out.
  Reply Apply(std::uint64_t index, const Command& command);

  // The reply now; changes nothing. Requires: FindError finds no error, and the command only reads.
  Reply Read(const Command& command);

  const SessionsMet& met() const { return met_; }

 private:
  struct Session {
    std::uint64_t entries = 0;
    std::uint64_t last_use = 0;
    std::uint64_t sequence = 0;
    Reply reply;
  };

  Reply Execute(std::uint64_t index, const Command& command);
  Reply Open(std::uint64_t index, const Command& command);
  Reply ExecuteOnce(std::uint64_t index, const Command& command);
  void Expire(std::uint64_t index);
  void Use(std::uint64_t id, Session& session, std::uint64_t index);

  KvModel values_;
  std::map<std::uint64_t, Session> sessions_;  // by id
  // The last live index and the id of each session.
  std::set<std::pair<std::uint64_t, std::uint64_t>> ends_;
  SessionsMet met_;
};

}  // namespace depfast::kv
