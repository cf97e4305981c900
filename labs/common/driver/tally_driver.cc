// A replica program for tests of a replicated log: the log (MakeReplicatedLog), and the smallest
// state machine. A test can compute its state.
#include <memory>

#include "depfast/host/service.h"
#include "read_count.h"
#include "replicated_log.h"
#include "tally.h"

namespace depfast {
namespace {

class TallyService final : public Service {
 public:
  explicit TallyService(Runtime& runtime)
      : runtime_(runtime), log_(MakeReplicatedLog(runtime, tally_)) {}

  void Start() override {
    runtime_.rpc().HandleInline<Submit>(
        [this](const Submit& request, const Responder<SubmitReply>& responder) {
          log_->Submit(request.command, responder.dependency(),
                       [responder](const SubmitReply& reply) { responder.Send(reply); });
        });
    runtime_.rpc().HandleInline<ReadCount>(
        [this](const ReadCount&, const Responder<ReadCountReply>& responder) {
          log_->ReadIndex(responder.dependency(), [this, responder](bool may_read) {
            responder.Send({may_read, tally_.count()});
          });
        });
    log_->Start();
  }

  void Stop() override { log_->Stop(); }

 private:
  Runtime& runtime_;
  Tally tally_;
  const std::unique_ptr<ReplicatedLog> log_;
};

}  // namespace

std::unique_ptr<Service> MakeService(Runtime& runtime) {
  return std::make_unique<TallyService>(runtime);
}

}  // namespace depfast
