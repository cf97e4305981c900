// HeldLog: what one replica has in its memory, as frames show it. A claim that it applies an entry,
// or restores a snapshot, needs it here or on the replica's disk.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "command_digest.h"

namespace depfast {

class HeldLog {
 public:
  // Since its start the replica has received this entry, or has sent it.
  void Hold(std::uint64_t index, std::uint64_t term, const CommandDigest& command);
  // It has received a part of the snapshot that ends at `last`: these bytes, of `total`.
  void HoldPart(std::uint64_t last, std::uint64_t offset, std::uint64_t bytes, std::uint64_t total);

  // A command, and why the replica cannot apply it: the end of a sentence; empty if it can.
  struct Taken {
    CommandDigest command;
    std::string why;
  };
  // The replica says that it applies this entry, by its CommandHash. `on_disk`: the command that
  // its disk has there. `is_damaged`: a test has damaged its disk, which may have had anything.
  Taken Take(std::uint64_t index, std::uint64_t term, std::uint64_t hash,
             const std::optional<CommandDigest>& on_disk, bool is_damaged);
  // It says that it restores the snapshot that ends at `last`. `on_disk`: the end of that on its
  // disk, if that is not damaged. Why it cannot, as above.
  std::string TakeSnapshot(std::uint64_t last, std::uint64_t on_disk, bool is_damaged);

 private:
  void ForgetUpTo(std::uint64_t index);

  std::uint64_t applied_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, CommandDigest> entries_;  // by (index, term)
  // By the last entry: the bytes without a gap, and whether that is all.
  std::map<std::uint64_t, std::pair<std::uint64_t, bool>> snapshots_;
};

}  // namespace depfast
