// The replica program of the lab: it serves the messages around a student's function.
#include <memory>

#include "depfast/host/service.h"
#include "new_lab.h"

namespace depfast {
namespace {

class Driver final : public Service {
 public:
  explicit Driver(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.rpc().Handle<lab0::Ping>([](PeerId, const lab0::Ping&) { return lab0::Pong(); });
    runtime_.rpc().Handle<lab0::Count>([this](PeerId, const lab0::Count&) {
      return lab0::Counted{lab0::CountReplicas(runtime_)};
    });
  }

 private:
  Runtime& runtime_;
};

}  // namespace

std::unique_ptr<Service> MakeService(Runtime& runtime) { return std::make_unique<Driver>(runtime); }

}  // namespace depfast
