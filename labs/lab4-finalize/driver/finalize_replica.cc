// The replica program of lab 4: lab 3's store on your Raft with Finalize, fan-outs for tests of
// Finalize alone, and planted windows for tests of your detector. It
// counts what Finalize is given.
#include <memory>

#include "counted_finalize.h"
#include "depfast/host/service.h"
#include "fan_outs.h"
#include "kv_driver.h"
#include "watch_windows.h"

namespace depfast {
namespace {

class FinalizeReplica final : public Service {
 public:
  explicit FinalizeReplica(Runtime& runtime)
      : runtime_(runtime), store_(kv::MakeKvDriver(runtime)) {
    lab4::StartCounting(runtime);
  }

  void Start() override {
    runtime_.rpc().Handle<lab4::RunFanOuts>([this](PeerId, const lab4::RunFanOuts& request) {
      return lab4::Perform(runtime_, request);
    });
    runtime_.rpc().Handle<lab4::Ask>(
        [this](PeerId, const lab4::Ask& ask) { return lab4::Serve(runtime_, ask); });
    runtime_.rpc().Handle<lab4::WatchWindows>(
        [](PeerId, const lab4::WatchWindows& request) { return lab4::Watch(request); });
    runtime_.rpc().Handle<lab4::CountFinalize>(
        [this](PeerId, const lab4::CountFinalize&) { return lab4::CountOf(runtime_); });
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
