// The commands that the port answers by itself: client libraries and tools send them before they
// begin. No replica's store knows these commands, and none sees them.
//
//   PING [text]  ECHO text  INFO [section...]  SELECT 0
//   HELLO [2|3 [SETNAME name]]
//   CLIENT ID|GETNAME|SETNAME name|SETINFO LIB-NAME|LIB-VER text
//   COMMAND [COUNT|INFO [name...]|DOCS [name...]]
//   CONFIG GET name...
//
// Replies are those of Redis 7.0, except for AUTH and for subcommands that are not listed here:
// each is an error that says so.
#pragma once

#include <optional>
#include <string>

#include "kv_messages.h"
#include "real/client_protocol.h"
#include "resp_writer.h"

namespace depfast::kv {

// The state of one connection that its client can change.
struct ClientState {
  Protocol protocol = Protocol::kResp2;
  std::string name;  // empty: none
};

// The reply as bytes, if this is a command of the port, else nothing. A reply to HELLO is in the
// version of the protocol that it chooses. A command with an error changes nothing.
// Requires: `command` is not empty.
std::optional<std::string> ServeAtPort(const Command& command, const real::ClientContext& context,
                                       ClientState& client);

}  // namespace depfast::kv
