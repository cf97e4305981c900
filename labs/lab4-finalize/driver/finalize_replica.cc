// The replica program of lab 4: lab 3's store on your Raft with Finalize, and fan-outs for tests of
// Finalize alone.
#include <memory>

#include "depfast/host/service.h"
#include "fan_outs.h"
#include "kv_driver.h"

namespace depfast {
namespace {

class FinalizeReplica final : public Service {
 public:
  explicit FinalizeReplica(Runtime& runtime)
      : runtime_(runtime), store_(kv::MakeKvDriver(runtime)) {}

  void Start() override {
    runtime_.rpc().Handle<lab4::RunFanOuts>([this](PeerId, const lab4::RunFanOuts& request) {
      return lab4::Perform(runtime_, request);
    });
    runtime_.rpc().Handle<lab4::Ask>(
        [this](PeerId, const lab4::Ask& ask) { return lab4::Serve(runtime_, ask); });
    store_->Start();
  }

 private:
  Runtime& runtime_;
  const std::unique_ptr<Service> store_;
};

}  // namespace

std::unique_ptr<Service> MakeService(Runtime& runtime) {
  return std::make_unique<FinalizeReplica>(runtime);
}

}  // namespace depfast
