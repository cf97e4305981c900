// Tally: the smallest state machine. It counts the commands and folds their hashes into one. So two
// replicas have the same state only if they applied the same commands in the same order. Given, not
// submitted: checkers compute it, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "state_machine.h"

namespace depfast {

// A portable 64-bit hash of a command.
std::uint64_t CommandHash(std::string_view command);

class Tally final : public StateMachine {
 public:
  // The result is the number of commands so far, in decimal.
  std::string Apply(std::uint64_t index, std::string_view command) override;
  void ApplyHash(std::uint64_t command_hash);

  // "<count> <hash> ", both in decimal, again and again up to 160 KiB: Raft sends that in several
  // chunks, and every chunk shows the snapshot that it belongs to.
  std::string Snapshot() const override;
  // Also refuses a snapshot of which a part belongs to another.
  void Restore(std::string_view snapshot) override;

  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace depfast
