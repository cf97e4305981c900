// The texts of errors. Given, not submitted. The first word tells a client the outcome of its
// command:
//
//   ERR        the command is wrong, or does not fit the value: it has changed nothing
//   TRYAGAIN   no replica could execute it, and none will: it has changed nothing. Also a read that
//              no majority has confirmed
//   UNKNOWN    it may have been executed, or may yet be. Never to a command that only reads
//   NOSESSION  the session has expired, or never was: it has changed nothing
//   STALESEQ   a later sequence number of the session has been used: it changes nothing now, but
//              may have been executed when that number was new
#pragma once

#include <string_view>

#include "first_answer.h"
#include "kv_messages.h"

namespace depfast::kv {

Reply UnknownCommand(std::string_view name);
Reply WrongNumberOfArguments(std::string_view name);
Reply TooLarge();       // a limit of kv_messages.h
Reply NestedSession();  // SESSION in a SESSION
Reply NotAnInteger();   // of 64 bits: a value, or an argument
Reply WouldOverflow();  // INCR
Reply ReplyTooLarge();  // MGET, above kReplyBytesMax
Reply TooManySessions();
Reply NoSession();
Reply StaleSequence();
Reply TryAgain();
Reply UnknownOutcome();

// The error's first word is `code`.
bool HasCode(const Reply& reply, std::string_view code);

// The outcome of a command, as its reply tells it.
CommandOutcome OutcomeIn(const Reply& reply);

}  // namespace depfast::kv
