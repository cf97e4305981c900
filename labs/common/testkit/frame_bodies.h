// The bodies of frames, for checkers that look for messages of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "depfast/host/frame.h"

namespace depfast {

// Calls visit(body) if the frame belongs to Message's method and its body can be decoded.
template <typename Message, typename Body = Message, typename Function>
void VisitBody(const DecodedFrame& frame, const Function& visit) {
  if (frame.header.method != Message::kMethod) return;
  std::string error;
  if (const auto body = DecodeBody<Body>(frame.body, error)) visit(*body);
}

// Visits the body of a reply's frame.
template <typename Message, typename Function>
void VisitReply(const DecodedFrame& frame, const Function& visit) {
  VisitBody<Message, typename Message::Reply>(frame, visit);
}

// The term of a frame that is one of these messages, or the reply to one: see
// LeaderContacts::TermOf.
template <typename... Messages>
std::optional<std::uint64_t> TermOf(const DecodedFrame& frame) {
  std::optional<std::uint64_t> term;
  const auto note = [&term](const auto& body) { term = body.term; };
  if (frame.header.kind == FrameKind::kRequest) (VisitBody<Messages>(frame, note), ...);
  if (frame.header.kind == FrameKind::kReply) (VisitReply<Messages>(frame, note), ...);
  return term;
}

}  // namespace depfast
