#include "kv_subject.h"

#include <memory>
#include <utility>

#include "kv_checker.h"
#include "kv_load.h"
#include "raft_checker.h"

namespace depfast::kv {

MakeSubject KvSubject(int reads_percent) {
  return [reads_percent](sim::Simulator& simulator, testkit::History& history,
                         const ClientLoad& clients) {
    auto log = std::make_unique<raft::RaftChecker>(simulator, &history,
                                                   raft::RaftChecker::Machine::kOther);
    const auto load = std::make_shared<KvLoad>(simulator, *log, clients, reads_percent);
    // A lease tells no lie until the leader changes. The checker sees that a read was not
    // confirmed.
    const auto checker = std::make_shared<KvChecker>(simulator, *log, history);
    return Subject{
        .log = std::move(log),
        .commands = [load](std::function<void(bool)> done) { load->Execute(std::move(done)); },
        .untrue =
            [load, checker] {
              return load->untrue().empty() ? checker->FirstViolation() : load->untrue();
            }};
  };
}

}  // namespace depfast::kv
