// The measured subjects: lab 3's store on a Raft that hands over, under each mix of commands. The
// grade has 95 % SET.
#include <functional>
#include <memory>
#include <utility>

#include "handover_checker.h"
#include "kv_checker.h"
#include "kv_load.h"
#include "subject.h"

namespace depfast {
namespace {

Subject MakeStore(int reads_percent, sim::Simulator& simulator, testkit::History& history,
                  const ClientLoad& clients) {
  auto log = std::make_unique<adr::HandoverChecker>(simulator, &history);
  const auto load = std::make_shared<kv::KvLoad>(simulator, *log, clients, reads_percent);
  const auto checker = std::make_shared<kv::KvChecker>(simulator, *log, history);
  return Subject{
      .log = std::move(log),
      .commands = [load](std::function<void(bool)> done) { load->Execute(std::move(done)); },
      .untrue =
          [load, checker] {
            return load->untrue().empty() ? checker->FirstViolation() : load->untrue();
          },
      .return_clients = [load] { load->ReturnClients(); }};
}

}  // namespace

std::map<std::string, MakeSubject> MeasuredSubjects() {
  std::map<std::string, MakeSubject> subjects;
  for (const auto& [mix, reads_percent] : kv::Mixes()) {
    subjects[mix] = std::bind_front(MakeStore, reads_percent);
  }
  return subjects;
}

}  // namespace depfast
