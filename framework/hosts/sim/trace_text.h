// The words for frames and disk operations. The trace and the recorder use them.
#pragma once

#include <string>
#include <string_view>

#include "depfast/dependency.h"
#include "depfast/host/frame.h"
#include "depfast/host/host.h"

namespace depfast::sim {

// "request", "reply", "error"
const char* NameOf(FrameKind kind);

// "append to", "read", "truncate", "rename", "remove"
const char* NameOf(IoRequest::Kind kind);

// The request that a message belongs to: "client call 7", "heartbeat 3", "nobody".
std::string NameOf(const Dependency& dependency);

// A frame's body as JSON-like text on one line. Long strings are cut off after 48 bytes and long
// bodies after about 400, with their whole size.
std::string DescribeBody(std::string_view body);

}  // namespace depfast::sim
