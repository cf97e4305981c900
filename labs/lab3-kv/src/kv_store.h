// The key-value store: the state machine that executes the commands of the log (lab 3).
//
// Its state is a function of the log alone. It must not depend on a clock, a random draw or an
// address, so that all replicas have equal states after the same entry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kv_commands.h"
#include "kv_messages.h"
#include "state_machine.h"

namespace depfast::kv {

class KvStore final : public StateMachine {
 public:
  // Executes the encoded command (EncodeCommand) at `index`, and returns the encoded reply.
  std::string Apply(std::uint64_t index, std::string_view command) override;

  // Keys, values and sessions. The same bytes for the same state.
  std::string Snapshot() const override;
  // Replaces the whole state, keys and sessions. Throws std::runtime_error with a one-line message
  // if the bytes are malformed, and then leaves the state unchanged.
  void Restore(std::string_view snapshot) override;

  // Executes a command that only reads (CommandForm::reads) on the current state.
  // Requires: FindError(command) finds no error.
  Reply Read(const Command& command) const;

 private:
  // Your state. Document for each member when it is valid, and its invariant with other members.
};

}  // namespace depfast::kv
