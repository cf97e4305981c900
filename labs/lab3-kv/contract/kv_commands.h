// The commands: their names, their numbers of arguments, and which of them only read. Given, not
// submitted.
//
//   GET key              the value, or nil
//   SET key value        OK
//   DEL key...           how many of the keys were there; a key named twice counts once
//   EXISTS key...        how many of the keys are there; a key named twice counts twice
//   INCR key             the value as a decimal integer of 64 bits, plus one; absent counts as 0.
//                        A number is one only in its printed form: "01" and "+1" are none
//   APPEND key value     the new length; an absent key counts as empty
//   MGET key...          the values, nil for absent keys; all at one instant
//   MSET key value...    OK; all at one instant; of a key named twice the last value stays
//   SETNX key value      1 and sets it if the key is absent, else 0
//   STRLEN key           the length, 0 if absent
//   GETSET key value     the old value or nil, and sets the new one
//   CAS key old new      1 and sets it if the key holds exactly `old`, else 0 (absent, too).
//                        Redis has no such command
//   SESSION NEW [n]      an id: a session that expires once more than n entries in a row have
//                        not named it
//   SESSION id seq ...   executes the command that follows once, however often it is sent
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "kv_messages.h"

namespace depfast::kv {

enum class Verb {
  kGet,
  kSet,
  kDel,
  kExists,
  kIncr,
  kAppend,
  kMget,
  kMset,
  kSetnx,
  kStrlen,
  kGetset,
  kCas,
  kSession,
};

struct CommandForm {
  Verb verb;
  std::string_view name;  // in capital letters
  std::size_t arguments;  // their number
  bool repeats;           // takes several groups of this number of arguments
  bool reads;             // changes nothing, with any arguments
};

// Null if there is no such command. The name in any case.
const CommandForm* FindCommand(std::string_view name);

// Whether `word` is `capitals`, in any case.
bool IsWord(std::string_view word, std::string_view capitals);

// The error for a command that no state allows: it is unknown, has a wrong number of arguments, or
// exceeds a limit. Nothing if the command can be executed.
std::optional<Reply> FindError(const Command& command);

}  // namespace depfast::kv
