#include <cstdint>
#include <memory>
#include <stdexcept>

#include "depfast/host/codec.h"
#include "depfast/host/service.h"
#include "depfast/note.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "sample.h"

namespace depfast::testkit {
namespace {

struct NoText {
  std::uint64_t number = 0;
  DEPFAST_FIELDS(number)
};

// Garble as the replica sees it: with another reply than the client expects.
struct GarbledReply : Garble {
  using Reply = NoText;
  DEPFAST_FIELDS()
};

class Sample : public Service {
 public:
  explicit Sample(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    Rpc& rpc = runtime_.rpc();
    ServeEcho(rpc);
    rpc.Handle<Ignore>([](PeerId, const Ignore&) {
      std::make_shared<IntEvent>("a day that never comes", 1)->Wait();
      return TextReply{};
    });
    rpc.Handle<Refuse>([](PeerId, const Refuse&) -> TextReply { throw std::runtime_error("no"); });
    rpc.Handle<Confess>([this](PeerId, const Confess&) {
      static int somewhere = 0;
      runtime_.Observe({1, {reinterpret_cast<std::uintptr_t>(&somewhere), 0, 0, 0}});
      return TextReply{"done"};
    });
    rpc.Handle<Remark>([](PeerId peer, const Remark&) {
      Note("client %d asked for %s", peer, "this");
      return TextReply{"done"};
    });
    rpc.HandleInline<Forge>([&rpc](const Forge&, const Responder<TextReply>& responder) {
      const FrameHeader forged{FrameKind::kRequest, Ignore::kMethod, responder.dependency().id - 1,
                               responder.dependency()};
      Responder<TextReply>(&rpc, responder.peer(), forged).Send({"forged"});
      responder.Send({"done"});
    });
    rpc.Handle<GarbledReply>([](PeerId, const GarbledReply&) { return NoText{1}; });
  }

 private:
  Runtime& runtime_;
};

}  // namespace
}  // namespace depfast::testkit

std::unique_ptr<depfast::Service> depfast::MakeService(depfast::Runtime& runtime) {
  return std::make_unique<depfast::testkit::Sample>(runtime);
}
