// Puts to the kit's replicas: a lab's encoding of messages, and a target that sends them.
#pragma once

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/host/frame.h"
#include "depfast/time.h"
#include "put_target.h"

namespace depfast::load {

enum class PutOutcome { kCommitted, kNotLeader, kUnknown };

// A lab's encoding of its messages. No member is null.
struct Dialect {
  // A request to put a value, as a frame. The copies of a request have the same dependency.
  std::string (*encode_put)(CallId call, const Dependency& client, std::string_view key,
                            std::string_view value);
  // A request that is kCommitted by the leader only.
  std::string (*encode_probe)();
  // The result in the body of a reply; nothing if the body is malformed.
  std::optional<PutOutcome> (*outcome_in)(std::string_view body);
};

struct Answer {
  CallId call;
  PutOutcome outcome;
};

// The answer in a frame; nothing if it is no reply.
std::optional<Answer> AnswerIn(const Dialect& dialect, std::string_view bytes);

// Whether the replica commits a probe in `patience`: it leads, or is one of two that propose. Not
// if it is down.
bool Proposes(const real::Endpoint& replica, const Dialect& dialect, Duration patience = 500ms);

// Waits until something has happened, or `until` has come. Throws std::system_error.
void PollUntil(Clock::time_point until, std::vector<pollfd>& polled);

// Looks for the leader, and connects to it; later to each new leader. Throws std::exception if none
// is found in 10 s.
std::unique_ptr<PutTarget> ConnectWith(const Dialect& dialect, const TargetOptions& options);

// Connects to all replicas. Each put goes to two of them, and the first answer counts: see
// pair_target.cc. Throws std::exception if two do not propose within 10 s.
std::unique_ptr<PutTarget> ConnectToPair(const Dialect& dialect, const TargetOptions& options);

}  // namespace depfast::load
