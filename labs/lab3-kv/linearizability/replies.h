// Replies, compared as the checker compares them and written for people.
#pragma once

#include <iosfwd>
#include <string>

#include "kv_messages.h"

namespace depfast::kv {

// Any two errors are equal: their words are not part of the contract.
bool AreSame(const Reply& a, const Reply& b);

// Whether a store may give `reply` where the rules give `permitted`. The first word of an error is
// part of the contract, the others are not.
bool IsPermitted(const Reply& reply, const Reply& permitted);

// nil, OK, 7, "v1", ["v1", nil], ERR ...
std::string ToText(const Reply& reply);
void PrintTo(const Reply& reply, std::ostream* out);

}  // namespace depfast::kv
