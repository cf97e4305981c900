// submit_command: one command for a cluster that runs. It prints the answer as one line of JSON.
#include <map>
#include <string>
#include <vector>

#include "frame_target.h"
#include "kv_messages.h"
#include "program.h"
#include "real/client.h"
#include "submit.h"

namespace depfast::load {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr Duration kPatience = 2s;   // with one replica
constexpr Duration kDeadline = 10s;  // with all of them

// The answer of a replica, or nothing if the command was not accepted there.
using Ask = std::optional<Json> (*)(real::Client& client, const Words& words);

// The body of the reply. Throws std::runtime_error: after the request has left, the command may be
// executed although its answer is lost, so it must not be sent again.
template <typename Request>
typename Request::Reply Call(real::Client& client, const Request& request) {
  client.Send(Encode(1, request));
  std::string error;
  const auto bytes = client.Receive(kPatience);
  const auto frame = bytes ? DecodeFrame(*bytes, error) : std::nullopt;
  if (!frame || frame->header.kind != FrameKind::kReply) {
    throw std::runtime_error("replica " + std::to_string(client.replica()) +
                             " has not answered: the command may be executed yet");
  }
  const auto reply = DecodeBody<typename Request::Reply>(frame->body, error);
  if (!reply) throw std::runtime_error("the answer makes no sense: " + error);
  return *reply;
}

std::optional<Json> AskRaft(real::Client& client, const Words& words) {
  std::string command;
  for (const auto& word : words) command += (command.empty() ? "" : " ") + word;
  const SubmitReply reply = Call(client, Submit{command});
  if (reply.status == SubmitStatus::kNotProposer) return std::nullopt;
  const bool committed = reply.status == SubmitStatus::kCommitted;
  return Json{{"replica", client.replica()},
              {"status", committed ? "committed" : "unknown"},
              {"index", reply.index}};
}

// Any replica passes the command on to the leader.
std::optional<Json> AskKv(real::Client& client, const Words& words) {
  constexpr const char* kKinds[] = {"nil", "status", "integer", "string", "array", "error"};
  const kv::Reply reply = Call(client, kv::KvRequest{words, 0});
  auto items = Json::array();
  for (const auto& item : reply.items) items.push_back(item ? Json(*item) : Json());
  return Json{{"replica", client.replica()},
              {"status", kKinds[static_cast<std::size_t>(reply.kind)]},
              {"integer", reply.integer},
              {"text", reply.text},
              {"items", std::move(items)}};
}

const std::map<std::string, Ask> kAsk = {{"raft", AskRaft}, {"kv", AskKv}, {"copilot-kv", AskKv}};

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
  app.add_option("--target", target, "the store")->required()->check(CLI::IsMember(load::kAsk));
  app.add_option_function<std::string>(
         "--replicas", [&](const std::string& text) { replicas = real::ParseEndpoints(text); },
         "HOST:PORT of all replicas, with commas")
      ->required();
  app.add_option("words", words, "the command")->required();
  return RunProgram(app, argc, argv,
                    [&] { return load::Submitted(replicas, load::kAsk.at(target), words); });
}
