#include "store_load.h"

#include <poll.h>

#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "depfast/host/frame.h"
#include "depfast/host/random.h"
#include "kv_errors.h"
#include "real/client.h"
#include "support.h"

namespace depfast::kv {
namespace {

constexpr Duration kAnswerPatience = 2s;
constexpr int kPauseMilliseconds = 5;  // after a replica that does not serve
constexpr std::uint64_t kKeys = 4;

std::optional<Reply> Ask(real::Client& client, const Command& command, CallId call,
                         std::uint64_t forward_id) {
  const FrameHeader header{FrameKind::kRequest, KvRequest::kMethod, call, Dependency::Client(1)};
  client.Send(EncodeFrame(header, KvRequest{command, forward_id}));
  std::string error;
  const auto bytes = client.Receive(kAnswerPatience);
  const auto frame = bytes ? DecodeFrame(*bytes, error) : std::nullopt;
  return frame ? DecodeBody<Reply>(frame->body, error) : std::nullopt;
}

}  // namespace

Time StoreClock() { return Time(std::chrono::steady_clock::now().time_since_epoch()); }

std::optional<Reply> AskStore(const real::Endpoint& replica, const Command& command,
                              std::uint64_t forward_id) {
  real::Client client(replica, kNobody, kAnswerPatience);
  return Ask(client, command, 1, forward_id);
}

bool AnswersReads(const real::ReplicaCluster& cluster, int id, std::uint64_t forward_id) {
  if (!cluster.Runs(id)) return false;
  try {
    const auto reply = AskStore(cluster.endpoint(id), {"GET", "k0"}, forward_id);
    return reply && OutcomeIn(*reply) == CommandOutcome::kKnown;
  } catch (const std::system_error&) {
    return false;
  }
}

// One client, and its connection to some replica.
class StoreLoad::Client {
 public:
  Client(StoreLoad& load, int number, std::uint64_t seed)
      : load_(load), number_(number), random_(seed, static_cast<std::uint64_t>(number)) {}

  void Run() {
    while (!load_.stopping_) {
      const std::string key = "k" + std::to_string(random_.Below(kKeys));
      switch (random_.Below(4)) {
        case 0:
          Count();
          break;
        case 1:
          Once({"SET", key, std::to_string(number_) + "." + std::to_string(++written_)});
          break;
        default:
          Once({"GET", key});
      }
    }
  }

 private:
  // Sends the command to some replica, once. Nothing if the outcome is unknown.
  std::optional<Reply> Send(const Command& command) {
    try {
      if (!connection_) {
        const auto count = static_cast<std::uint64_t>(load_.cluster_.size());
        const auto& replica = load_.cluster_.endpoint(static_cast<int>(random_.Below(count)));
        connection_.emplace(replica, kNobody, kAnswerPatience);
      }
      auto reply = Ask(*connection_, command, ++calls_, 0);
      if (!reply) Leave();
      return reply;
    } catch (const std::system_error&) {  // it is starting, out of service, or dying
      Leave();
      return std::nullopt;
    }
  }

  void Leave() {
    connection_.reset();
    poll(nullptr, 0, kPauseMilliseconds);
  }

  void Once(const Command& command) {
    KvOperation operation{number_, ParsedCommand(command), StoreClock(), std::nullopt};
    const auto reply = Send(command);
    if (reply && OutcomeIn(*reply) == CommandOutcome::kRefused) {
      Leave();  // another replica may serve
      return;
    }
    if (reply && OutcomeIn(*reply) == CommandOutcome::kKnown) {
      operation.answer = KvAnswer{StoreClock(), *reply};
    } else if (operation.command.IsRead()) {
      return;  // a read without an answer says nothing
    }
    load_.Take(std::move(operation));
  }

  // Adds one to the key of the round, exactly once. The end of the load leaves the outcome unknown.
  void Count() {
    const Command command = {"INCR", "round" + std::to_string(load_.round_)};
    if (session_.empty() && !OpenSession()) return;
    Command in_session = {"SESSION", session_, std::to_string(++sequence_)};
    in_session.insert(in_session.end(), command.begin(), command.end());
    KvOperation operation{number_, ParsedCommand(command), StoreClock(), std::nullopt};
    while (!operation.answer && !load_.stopping_) {
      const auto reply = Send(in_session);
      if (reply && OutcomeIn(*reply) == CommandOutcome::kKnown) {
        operation.answer = KvAnswer{StoreClock(), *reply};
      } else if (reply) {
        Leave();
      }
    }
    load_.Take(std::move(operation));
  }

  bool OpenSession() {
    const auto reply = Send({"SESSION", "NEW", std::to_string(kSessionEntriesMax)});
    if (!reply || reply->kind != Reply::Kind::kInteger) return false;
    session_ = std::to_string(reply->integer);
    return true;
  }

  StoreLoad& load_;
  const int number_;
  RandomStream random_;
  std::optional<real::Client> connection_;
  CallId calls_ = 0;
  std::uint64_t written_ = 0;
  std::string session_;  // empty: none yet
  std::uint64_t sequence_ = 0;
};

StoreLoad::StoreLoad(const real::ReplicaCluster& cluster, int clients, std::uint64_t seed)
    : cluster_(cluster) {
  for (int number = 1; number <= clients; ++number) {
    threads_.emplace_back([this, number, seed] { Client(*this, number, seed).Run(); });
  }
}

void StoreLoad::Stop() {
  stopping_ = true;
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
}

void StoreLoad::Take(KvOperation operation) {
  const bool is_executed = operation.answer.has_value();
  {
    const std::lock_guard lock(mutex_);
    history_.push_back(std::move(operation));
    executed_ += is_executed ? 1 : 0;
  }
  if (is_executed) grown_.notify_all();
}

bool StoreLoad::AwaitMore(std::size_t count) {
  std::unique_lock lock(mutex_);
  const std::size_t wanted = executed_ + count;
  return grown_.wait_for(lock, real::kPatience, [&] { return executed_ >= wanted; });
}

}  // namespace depfast::kv
