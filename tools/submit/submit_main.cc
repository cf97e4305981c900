// submit_command: one command for a cluster that runs. It prints the answer as one line of JSON.
#include <string>
#include <vector>

#include "program.h"
#include "protocol.h"
#include "real/client.h"

namespace depfast::load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Duration kDeadline = 10s;  // with all of them

std::optional<Json> TryOne(const real::Endpoint& replica, Ask ask, const Words& words) {
  std::optional<real::Client> client;
  try {
    client.emplace(replica, kNobody, kPatience);
  } catch (const std::system_error&) {  // it does not run
    return std::nullopt;
  }
  const auto began = Clock::now();
  auto answer = ask(*client, words);
  if (answer) (*answer)["us"] = (Clock::now() - began) / 1us;
  return answer;
}

// Asks the replicas in turn until one accepts the command.
Json Submitted(const std::vector<real::Endpoint>& replicas, Ask ask, const Words& words) {
  const auto deadline = Clock::now() + kDeadline;
  do {
    for (const auto& replica : replicas) {
      if (auto answer = TryOne(replica, ask, words)) return *std::move(answer);
    }
  } while (Clock::now() < deadline);
  throw std::runtime_error("no replica has accepted the command within 10 s");
}

}  // namespace
}  // namespace depfast::load

int main(int argc, char** argv) {
  using namespace depfast;
  std::string target;
  std::vector<real::Endpoint> replicas;
  load::Words words;
  CLI::App app("Submits one command to a replicated log or store.", "submit_command");
  app.add_option("--target", target, "the store")->required()->check(CLI::IsMember(load::Asks()));
  app.add_option_function<std::string>(
         "--replicas", [&](const std::string& text) { replicas = real::ParseEndpoints(text); },
         "HOST:PORT of all replicas, with commas")
      ->required();
  app.add_option("words", words, "the command")->required();
  return RunProgram(app, argc, argv,
                    [&] { return load::Submitted(replicas, load::Asks().at(target), words); });
}
