// The replica program of the lab: lab 3's store on a Raft that hands over, and answers to questions
// to the detector and the diagnosis.
#include <memory>
#include <optional>

#include "depfast/host/service.h"
#include "diagnosis.h"
#include "diagnosis_questions.h"
#include "kv_driver.h"
#include "watch_streams.h"

namespace depfast {
namespace {

class Driver final : public Service {
 public:
  explicit Driver(Runtime& runtime) : runtime_(runtime), store_(kv::MakeKvDriver(runtime)) {}

  void Start() override {
    Rpc& rpc = runtime_.rpc();
    rpc.HandleInline<adr::WatchStreams>(
        [this](const adr::WatchStreams& request, const Responder<adr::PlantedReport>& responder) {
          responder.Send(watcher_.Watch(request));
        });
    rpc.HandleInline<adr::AskDiagnosis>(
        [](const adr::AskDiagnosis& asked, const Responder<adr::DiagnosisAnswer>& responder) {
          responder.Send(
              {.suspicion = adr::Diagnose(asked.self, asked.own, asked.peers, asked.replicas)});
        });
    rpc.HandleInline<adr::AskSendsClientsAway>([](const adr::AskSendsClientsAway& asked,
                                                  const Responder<adr::DiagnosisAnswer>& to) {
      const auto since =
          asked.since_named_ns < 0 ? std::nullopt : std::optional(Duration(asked.since_named_ns));
      to.Send({.sends_away =
                   adr::SendsClientsAway(asked.suspicion, since, asked.peers, asked.replicas)});
    });
    store_->Start();
  }

  void Stop() override { store_->Stop(); }

 private:
  Runtime& runtime_;
  adr::StreamWatcher watcher_;
  const std::unique_ptr<Service> store_;
};

}  // namespace

std::unique_ptr<Service> MakeService(Runtime& runtime) { return std::make_unique<Driver>(runtime); }

}  // namespace depfast
