#include "finalize.h"

#include <algorithm>
#include <string>
#include <utility>

#include "depfast/runtime.h"
#include "depfast/wait_description.h"

namespace depfast {
namespace {

// Ready once every call is decided, in whatever way. An AndEvent is another thing: it fails with
// its first child, and the other calls would lose their grace.
class AllDecided final : public Event {
 public:
  explicit AllDecided(BroadcastCalls calls) : calls_(std::move(calls)) {}

  bool IsReady() const override { return calls_.Stragglers().empty(); }
  const char* Label() const override { return "finalize"; }
  std::string Describe() const override {
    return "Finalize, " + std::to_string(calls_.Stragglers().size()) + " calls are left";
  }
  // All out of all.
  WaitDescription DescribeWait() const override;

 private:
  const BroadcastCalls calls_;
};

WaitDescription AllDecided::DescribeWait() const {
  WaitDescription wait;
  for (const auto& call : calls_.all()) wait.Include(call->DescribeWait());
  wait.needed = wait.total = static_cast<int>(calls_.size());
  return wait;
}

}  // namespace

std::shared_ptr<Event> Finalize(std::shared_ptr<QuorumEvent> quorum, BroadcastCalls calls,
                                Duration grace) {
  const auto decided = std::make_shared<AllDecided>(calls);
  for (const auto& call : calls.all()) call->NotifyOnDecision(decided);
  if (decided->IsReady()) return decided;
  Runtime::Current().Spawn("finalize", [quorum, calls, grace, decided]() mutable {
    if (!quorum->TimedOut()) quorum->Wait();
    decided->Wait(grace);
    calls.Release();  // the calls that are left fail, which makes `decided` ready
  });
  return decided;
}

}  // namespace depfast
