// Submit: a client's request to put a command into the replicated log, and its reply. Given, not
// submitted: tests send these frames.
#pragma once

#include <cstdint>
#include <string>

#include "depfast/host/frame.h"
#include "depfast/peer.h"

namespace depfast {

enum class SubmitStatus : std::uint8_t {
  kCommitted = 0,    // decided for ever, and applied by the replica that answers, at `index`
  kNotProposer = 1,  // not accepted: this replica proposes nothing. Try `proposer`, if it is known
  kUnknown = 2,      // accepted, and then the proposer lost track of it: it may be applied yet
};

struct SubmitReply {
  SubmitStatus status = SubmitStatus::kNotProposer;
  PeerId proposer = kNobody;  // a replica that proposes, as far as the answering one knows
  std::uint64_t index = 0;
  std::string result;  // of StateMachine::Apply; empty unless committed
  DEPFAST_FIELDS(status, proposer, index, result)
};

// The command must not be empty.
struct Submit {
  using Reply = SubmitReply;
  static constexpr MethodId kMethod = 3;
  static constexpr const char* kName = "Submit";

  std::string command;
  DEPFAST_FIELDS(command)
};

}  // namespace depfast
