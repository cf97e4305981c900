// The measured subject: lab 3's store on a Raft that hands over, with 95 % SET.
#include <memory>
#include <utility>

#include "handover_checker.h"
#include "kv_checker.h"
#include "kv_load.h"
#include "subject.h"

namespace depfast {
namespace {

constexpr const char* kMix = "set";

Subject MakeStore(sim::Simulator& simulator, testkit::History& history, const ClientLoad& clients) {
  auto log = std::make_unique<adr::HandoverChecker>(simulator, &history);
  const auto load = std::make_shared<kv::KvLoad>(simulator, *log, clients, kv::Mixes().at(kMix));
  const auto checker = std::make_shared<kv::KvChecker>(simulator, *log, history);
  return Subject{
      .log = std::move(log),
      .commands = [load](std::function<void(bool)> done) { load->Execute(std::move(done)); },
      .untrue =
          [load, checker] {
            return load->untrue().empty() ? checker->FirstViolation() : load->untrue();
          }};
}

}  // namespace

std::map<std::string, MakeSubject> MeasuredSubjects() { return {{kMix, MakeStore}}; }

}  // namespace depfast
