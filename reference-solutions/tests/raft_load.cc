#include "raft_load.h"

#include <poll.h>

#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "depfast/host/frame.h"
#include "depfast/host/random.h"
#include "raft_messages.h"
#include "real/client.h"
#include "support.h"

namespace depfast::raft {
namespace {

constexpr std::size_t kOutstandingMax = 8;  // of one client
constexpr Duration kAnswerPatience = 500ms;
constexpr int kPauseMilliseconds = 5;  // when nobody leads, or the replica we want is down

// Most commands are short. Some are long, so that a kill finds a write under way now and then.
constexpr std::uint64_t kLongOneIn = 32;
constexpr std::size_t kLongBytes = 16 * 1024;

constexpr std::size_t kAbbreviatedBytes = 40;

}  // namespace

std::string Abbreviated(std::string_view command) {
  return std::string(command.substr(0, kAbbreviatedBytes)) + " (" + std::to_string(command.size()) +
         " bytes)";
}

// One client: a connection to the assumed leader, and the commands that wait for an answer there.
class RaftLoad::Client {
 public:
  Client(RaftLoad& load, int number)
      : load_(load), number_(number), random_(static_cast<std::uint64_t>(number)) {}

  void Run() {
    while (!load_.stopping_) {
      try {
        if (!connection_) Connect();
        if (connection_) Exchange();
      } catch (const std::system_error&) {  // it is starting, or dying
        MoveTo(Next());
      }
    }
  }

 private:
  int Next() const { return (target_ + 1) % load_.cluster_.size(); }

  void Connect() {
    if (load_.cluster_.Runs(target_)) {
      connection_.emplace(load_.cluster_.endpoint(target_), kNobody, kAnswerPatience);
    } else {
      MoveTo(Next());
    }
  }

  // Keeps kOutstandingMax commands under way, and takes one answer.
  void Exchange() {
    while (outstanding_.size() < kOutstandingMax) Submit();
    const auto frame = connection_->Receive(kAnswerPatience);
    if (frame) {
      Take(*frame);
    } else {
      MoveTo(Next());
    }
  }

  void Submit() {
    const std::uint64_t call = ++last_call_;
    std::string command = "client " + std::to_string(number_) + " " + std::to_string(call);
    if (random_.Below(kLongOneIn) == 0) command.resize(kLongBytes, '.');
    const FrameHeader header{FrameKind::kRequest, depfast::Submit::kMethod, call,
                             Dependency::Client(static_cast<std::uint64_t>(number_))};
    connection_->Send(EncodeFrame(header, depfast::Submit{command}));
    outstanding_.emplace(call, std::move(command));
  }

  void Take(const std::string& bytes) {
    std::string error;
    const auto frame = DecodeFrame(bytes, error);
    const auto reply = frame ? DecodeBody<SubmitReply>(frame->body, error) : std::nullopt;
    const auto asked = reply ? outstanding_.find(frame->header.call) : outstanding_.end();
    if (asked == outstanding_.end()) return MoveTo(Next());
    if (reply->status != SubmitStatus::kCommitted) {
      const bool elsewhere = reply->proposer != kNobody && reply->proposer != target_;
      return MoveTo(elsewhere ? reply->proposer : Next());
    }
    load_.Acknowledge(target_, reply->index, asked->second);
    outstanding_.erase(asked);
  }

  // The outcome of the outstanding commands is unknown: no answer to them can come.
  void MoveTo(int target) {
    connection_.reset();
    outstanding_.clear();
    target_ = target;
    poll(nullptr, 0, kPauseMilliseconds);
  }

  RaftLoad& load_;
  const int number_;
  RandomStream random_;
  int target_ = 0;
  std::optional<real::Client> connection_;
  std::uint64_t last_call_ = 0;
  std::map<std::uint64_t, std::string> outstanding_;  // commands by call
};

RaftLoad::RaftLoad(const RaftCluster& cluster, int clients) : cluster_(cluster) {
  for (int number = 1; number <= clients; ++number) {
    threads_.emplace_back([this, number] { Client(*this, number).Run(); });
  }
}

void RaftLoad::Stop() {
  stopping_ = true;
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
}

void RaftLoad::Acknowledge(int replica, std::uint64_t index, std::string_view command) {
  leader_ = replica;
  {
    const std::lock_guard lock(mutex_);
    ++total_;
    fresh_.push_back({index, Abbreviated(command)});
  }
  grown_.notify_all();
}

bool RaftLoad::AwaitMore(std::size_t count) {
  std::unique_lock lock(mutex_);
  const std::size_t wanted = total_ + count;
  return grown_.wait_for(lock, real::kPatience, [&] { return total_ >= wanted; });
}

void RaftLoad::TakeInto(std::vector<Acknowledged>& all) {
  const std::lock_guard lock(mutex_);
  std::move(fresh_.begin(), fresh_.end(), std::back_inserter(all));
  fresh_.clear();
}

}  // namespace depfast::raft
