#include "subject.h"

#include <utility>

#include "submit_client.h"

namespace depfast {
namespace {

constexpr std::size_t kCommandBytes = 256;

}  // namespace

Subject SubmitSubject(std::unique_ptr<LogChecker> log, sim::Simulator& simulator,
                      const ClientOptions& options) {
  const auto client = std::make_shared<SubmitClient>(simulator, options);
  return {.log = std::move(log),
          .commands = [client, commands = client->Commands(kCommandBytes)](
                          std::function<void(bool)> done) { commands(std::move(done)); }};
}

}  // namespace depfast
