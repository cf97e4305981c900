// The replica program of lab 1: it performs the scripts it is sent, and answers its peers' calls.
#include <memory>
#include <stdexcept>
#include <string>

#include "depfast/host/codec.h"
#include "depfast/host/service.h"
#include "depfast/value_event.h"
#include "interpreter.h"

namespace depfast::lab1 {
namespace {

struct Garbage {
  std::string text = "not an answer";
  DEPFAST_FIELDS(text)
};

class Driver : public Service {
 public:
  explicit Driver(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.rpc().Handle<RunScript>(
        [this](PeerId, const RunScript& script) { return Perform(runtime_, script); });
    runtime_.rpc().Handle<Ask>([this](PeerId, const Ask& ask) { return Serve(ask); });
    runtime_.rpc().Handle<AskGarbled<Garbage>>([this](PeerId, const Ask& ask) {
      Serve(ask);
      return Garbage();
    });
  }

 private:
  Answer Serve(const Ask& ask) {
    const PeerPlan plan = ask.PlanOf(runtime_.self());
    runtime_.Sleep(Duration(plan.delay_ns));
    if (plan.answer == PeerPlan::Answer::kNothing) std::make_shared<IntEvent>("never", 1)->Wait();
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
