// Tally: the state machine of lab 2. It counts the commands and folds their hashes into one, so
// that two replicas have the same state only if they applied the same commands in the same order.
// Given, not submitted: the checker computes it, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "state_machine.h"

namespace depfast::raft {

class Tally final : public StateMachine {
 public:
  // The result is the number of commands so far, in decimal.
  std::string Apply(std::uint64_t index, std::string_view command) override;
  void ApplyHash(std::uint64_t command_hash);

  // "<count> <hash>", both in decimal, and as many spaces as make the snapshot several chunks long.
  std::string Snapshot() const override;
  void Restore(std::string_view snapshot) override;

  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace depfast::raft
