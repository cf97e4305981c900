#include "subject.h"

#include <stdexcept>
#include <utility>

#include "submit_client.h"

namespace depfast {

Subject SubmitSubject(std::unique_ptr<LogChecker> log, sim::Simulator& simulator,
                      const ClientLoad& load, int targets) {
  if (load.at != ClientsAt::kProposers) {
    throw std::invalid_argument("the clients of this lab go to its proposers");
  }
  const auto client = std::make_shared<SubmitClient>(
      simulator, ClientOptions{.answer_timeout = load.answer_timeout, .targets = targets});
  return {.log = std::move(log),
          .commands = [client, commands = client->Commands(load.value_bytes)](
                          std::function<void(bool)> done) { commands(std::move(done)); },
          .untrue = nullptr};
}

}  // namespace depfast
