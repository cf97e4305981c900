// The replica program of the Raft lab: a Raft, and under it a state machine so small that a test
// can say what its state must be.
#include <memory>
#include <string>
#include <string_view>

#include "depfast/host/service.h"
#include "raft.h"
#include "tally.h"

namespace depfast {
namespace {

class RaftService final : public Service {
 public:
  explicit RaftService(Runtime& runtime) : runtime_(runtime), raft_(runtime, tally_) {}

  void Start() override {
    runtime_.rpc().HandleInline<raft::Submit>(
        [this](const raft::Submit& request, const Responder<raft::SubmitReply>& responder) {
          raft_.Submit(request.command, responder.dependency(),
                       [responder](const raft::SubmitReply& reply) { responder.Send(reply); });
        });
    raft_.Start();
  }

 private:
  Runtime& runtime_;
  raft::Tally tally_;
  raft::Raft raft_;
};

}  // namespace

std::unique_ptr<Service> MakeService(Runtime& runtime) {
  return std::make_unique<RaftService>(runtime);
}

}  // namespace depfast
