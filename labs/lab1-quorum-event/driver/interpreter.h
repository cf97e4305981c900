// Performs quorum scripts against the QuorumEvent it is compiled with.
#pragma once

#include <vector>

#include "depfast/host/codec.h"
#include "depfast/runtime.h"
#include "quorum_script.h"

namespace depfast::lab1 {

// Returns when every coroutine of the script has ended, or at give_up_ns. Coroutines that have not
// ended then go on.
ScriptLog Perform(Runtime& runtime, const RunScript& script);

// The call that scripts make to peers.
struct Answer {
  bool yes = false;
  DEPFAST_FIELDS(yes)
};

struct Ask {
  using Reply = Answer;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Ask";
  std::vector<PeerPlan> plan;
  DEPFAST_FIELDS(plan)

  PeerPlan PlanOf(PeerId peer) const {
    const auto index = static_cast<std::size_t>(peer);
    return index < plan.size() ? plan[index] : PeerPlan{};
  }
};

// A question whose reply has another type than the caller expects.
template <typename ReplyType>
struct AskGarbled : Ask {
  using Reply = ReplyType;
  static constexpr MethodId kMethod = 3;
  static constexpr const char* kName = "AskGarbled";
};

}  // namespace depfast::lab1
