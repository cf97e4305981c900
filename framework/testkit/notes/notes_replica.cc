#include <memory>
#include <stdexcept>

#include "depfast/broadcast.h"
#include "depfast/compound_event.h"
#include "depfast/host/service.h"
#include "depfast/runtime.h"
#include "notes.h"

namespace depfast::testkit {
namespace {

// --8<-- [start:service]
class Notes : public Service {
 public:
  explicit Notes(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    Rpc& rpc = runtime_.rpc();
    rpc.Handle<Remember>([this](PeerId, const Remember& request) {
      const bool kept = IsOnTwoDisks(request.note);
      return Done{kept};
    });
    rpc.Handle<Store>([this](PeerId, const Store& request) {
      const Outcome outcome = Write(request.note)->Wait();
      if (outcome != Outcome::kReady) throw std::runtime_error("disk");
      return Done{true};
    });
  }

 private:
  std::shared_ptr<DiskEvent> Write(const std::string& note) {
    return runtime_.storage().Append("notes", note + "\n", Storage::Sync::kYes);
  }
  // --8<-- [end:service]

  // --8<-- [start:quorum]
  bool IsOnTwoDisks(const std::string& note) {
    const auto own_disk = Write(note);
    Broadcast<Store> others(runtime_.rpc(), runtime_.peers(), Store{note});
    const auto any_other = OrEvent::Of({others.calls()[0], others.calls()[1]});
    const auto enough = AndEvent::Of({own_disk, any_other});
    const Outcome outcome = enough->Wait(1s);
    others.Release();
    return outcome == Outcome::kReady;
  }
  // --8<-- [end:quorum]

  Runtime& runtime_;
};

}  // namespace
}  // namespace depfast::testkit

std::unique_ptr<depfast::Service> depfast::MakeService(depfast::Runtime& runtime) {
  return std::make_unique<depfast::testkit::Notes>(runtime);
}
