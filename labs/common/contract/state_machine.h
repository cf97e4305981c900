// StateMachine: the state that a replicated log's commands change. Given, not submitted: lab 2's
// driver has a Tally, lab 3's is your key-value store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace depfast {

class StateMachine {
 public:
  virtual ~StateMachine() = default;

  // Applies the command at `index` and returns the result that its client is sent. Called once for
  // each committed command, in order of the index; never for no-ops. Must not wait. The result must
  // depend on nothing but the commands applied so far: all replicas must get the same.
  virtual std::string Apply(std::uint64_t index, std::string_view command) = 0;

  // The whole state after the latest Apply, as bytes that Restore understands on any replica.
  virtual std::string Snapshot() const = 0;

  // Replaces the state by that of a snapshot. Throws std::runtime_error, in one line, if the bytes
  // are not a snapshot; the state is unchanged then.
  virtual void Restore(std::string_view snapshot) = 0;
};

}  // namespace depfast
