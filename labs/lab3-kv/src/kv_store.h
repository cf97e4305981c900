// The key-value store: the state machine that the log is applied to (lab 3).
//
// Its state is a function of the log alone: no clock, no random draw, no address may have a say in
// it, so that all replicas have the same after the same entry.
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
  // Throws std::runtime_error, in one line, if the bytes make no sense; the state is unchanged
  // then.
  void Restore(std::string_view snapshot) override;

  // Executes a command that only reads (CommandForm::reads) on the state as it is now.
  // Requires: WhatIsWrong(command) has nothing to say.
  Reply Read(const Command& command) const;

 private:
  // Your state. For each member: when it is valid, and what ties it to the others.
};

}  // namespace depfast::kv
