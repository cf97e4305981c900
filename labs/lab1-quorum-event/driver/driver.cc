// The replica program of lab 1: it performs the scripts it is sent, and answers its peers' calls.
#include <memory>
#include <stdexcept>

#include "depfast/host/service.h"
#include "interpreter.h"
#include "quorum_script.h"

namespace depfast::lab1 {
namespace {

// What a caller of method 3 is answered: not the reply it wants.
struct Garbage {
  std::string text;
  MSGPACK_DEFINE(text)
};
struct ServeGarbled {
  using Reply = Garbage;
  static constexpr MethodId kMethod = 3;
  static constexpr const char* kName = "AskGarbled";
  std::vector<PeerPlan> plan;
  MSGPACK_DEFINE(plan)
};

class Driver : public Service {
 public:
  explicit Driver(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.rpc().Handle<RunScript>([this](PeerId, const RunScript& script) {
      return std::make_shared<Interpreter>(runtime_, script)->Run();
    });
    runtime_.rpc().Handle<Ask>([this](PeerId, const Ask& ask) { return Serve(ask); });
    runtime_.rpc().Handle<ServeGarbled>([this](PeerId, const ServeGarbled& ask) {
      Serve({ask.plan});
      return Garbage{"not an answer"};
    });
  }

 private:
  Answer Serve(const Ask& ask) {
    const auto self = static_cast<std::size_t>(runtime_.self());
    const PeerPlan plan = self < ask.plan.size() ? ask.plan[self] : PeerPlan{};
    runtime_.Sleep(Duration(plan.delay_ns));
    if (plan.answer == PeerPlan::Answer::kNothing) std::make_shared<Promise>()->Wait();
    if (plan.answer == PeerPlan::Answer::kThrow) throw std::runtime_error("as planned");
    return {plan.answer == PeerPlan::Answer::kYes};
  }

  Runtime& runtime_;
};

}  // namespace
}  // namespace depfast::lab1

namespace depfast {

std::unique_ptr<Service> MakeService(Runtime& runtime) {
  return std::make_unique<lab1::Driver>(runtime);
}

}  // namespace depfast
