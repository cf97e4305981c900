#include "increment.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "argument_text.h"
#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {
namespace {

struct Form {
  std::string_view name;
  bool has_amount;
  bool is_negative;
};

constexpr std::array<Form, 3> kForms = {{
    {"INCRBY", true, false},
    {"DECRBY", true, true},
    {"DECR", false, true},
}};

const Form* FormOf(std::string_view name) {
  const auto found = std::find_if(kForms.begin(), kForms.end(),
                                  [&](const Form& form) { return IsWord(name, form.name); });
  return found == kForms.end() ? nullptr : &*found;
}

// The two errors that the store never gives.
Reply DecrementWouldOverflow() { return Reply::Error("ERR decrement would overflow"); }
Reply OthersChangeTheKey() {
  return Reply::Error("TRYAGAIN others changed the key all the time; nothing is changed");
}

}  // namespace

bool Increment::Is(std::string_view name) { return FormOf(name) != nullptr; }

std::variant<Increment, Reply> Increment::Parse(const Command& command) {
  const Form& form = *FormOf(command[0]);
  if (command.size() != (form.has_amount ? 3 : 2)) return WrongNumberOfArguments(command[0]);
  const auto amount = form.has_amount ? PrintedInteger(command[2]) : 1;
  if (!amount) return NotAnInteger();
  if (!form.is_negative) return Increment(command[1], *amount);
  if (*amount == std::numeric_limits<std::int64_t>::min()) return DecrementWouldOverflow();
  return Increment(command[1], -*amount);
}

std::variant<Command, Reply> Increment::Next(const Reply& reply) {
  if (reply.kind == Reply::Kind::kError) return reply;
  if (!std::exchange(is_setting_, !is_setting_)) {
    if (reply.kind == Reply::Kind::kNil) return Set(std::nullopt);
    if (reply.kind == Reply::Kind::kString) return Set(reply.text);
    return UnknownOutcome();
  }
  if (reply == Reply::Integer(1)) return Reply::Integer(sum_);
  if (reply != Reply::Integer(0)) return UnknownOutcome();
  if (++tries_ == kTriesMax) return OthersChangeTheKey();
  return First();
}

std::variant<Command, Reply> Increment::Set(const std::optional<std::string>& old) {
  const auto value = PrintedInteger(old.value_or("0"));
  if (!value) return NotAnInteger();
  if (__builtin_add_overflow(*value, by_, &sum_)) return WouldOverflow();
  const std::string sum = std::to_string(sum_);
  if (!old) return Command{"SETNX", key_, sum};
  return Command{"CAS", key_, *old, sum};
}

}  // namespace depfast::kv
