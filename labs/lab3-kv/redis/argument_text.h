// The port's reading of the words of a command.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace depfast::kv {

// The integer of 64 bits in its printed form, as Redis reads it: not "+1", "01", "-0" or " 1".
// Nothing if `text` is none.
std::optional<std::int64_t> PrintedInteger(std::string_view text);

// Whether `word` is `name`, in any case. Requires: `name` is in small letters.
bool IsNamed(std::string_view word, std::string_view name);

}  // namespace depfast::kv
