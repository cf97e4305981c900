// The replica program of the Raft lab: a Raft, and nothing on top of it.
#include <memory>

#include "depfast/service.h"
#include "raft.h"

namespace depfast {
namespace {

class RaftService final : public Service {
 public:
  explicit RaftService(Runtime& runtime) : runtime_(runtime), raft_(runtime) {}

  void Start() override {
    runtime_.rpc().HandleInline<raft::Submit>(
        [this](const raft::Submit& request, const Responder<raft::SubmitReply>& responder) {
          raft_.Submit(request.command, responder);
        });
    raft_.Start();
  }

 private:
  Runtime& runtime_;
  raft::Raft raft_;
};

}  // namespace

std::unique_ptr<Service> MakeService(Runtime& runtime) {
  return std::make_unique<RaftService>(runtime);
}

}  // namespace depfast
