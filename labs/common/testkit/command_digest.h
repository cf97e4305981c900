// CommandDigest: a command as checkers compare it, without its text. They take it from frames and
// disks. A replica claims a CommandHash alone: anybody can find another text with that hash.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "tally.h"

namespace depfast {

struct CommandDigest {
  std::uint64_t hash = 0;   // CommandHash of the text
  std::uint64_t bytes = 0;  // 0: a no-op
  // A hash with a key that each process draws anew: no replica knows it, and no report shows it.
  std::uint64_t keyed_low = 0;
  std::uint64_t keyed_high = 0;

  friend auto operator<=>(const CommandDigest&, const CommandDigest&) = default;
};

CommandDigest DigestOf(std::string_view command);

}  // namespace depfast
