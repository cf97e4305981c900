// Puts to a log with two proposers: one connection to each replica, one thread.
//
// Each put goes to the two replicas that propose, as far as this client knows. The first known
// answer counts. A replica that refuses, or whose connection ends, is replaced by another one. So a
// slow or dead proposer costs nothing.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "frame_target.h"
#include "real/client.h"
#include "real/connection.h"

namespace depfast::load {
namespace {

constexpr int kNameBits = 40;  // of a put; above them is the number of this program's run
constexpr auto kBeforeReconnecting = std::chrono::milliseconds(100);

// A replica, and the connection to it if there is one.
struct Link {
  real::Endpoint endpoint;
  std::unique_ptr<real::Connection> connection;
  real::SendQueue queue;
  Clock::time_point try_again{};
};

class PairTarget final : public PutTarget {
 public:
  PairTarget(const TargetOptions& options, const Dialect& dialect)
      : dialect_(dialect), run_(std::random_device()() & 0x3FFFFF) {
    if (options.replicas.size() < 3) throw std::runtime_error("two pilots need three replicas");
    for (const auto& endpoint : options.replicas) links_.push_back({endpoint, nullptr, {}, {}});
    for (Link& link : links_) Connect(link);
    AwaitProposers();
  }

  void Start(std::uint64_t id, std::string_view key, std::string_view value) override {
    const Dependency client = Dependency::Client(run_ << kNameBits | id);
    const auto bytes = MakeBytes(dialect_.encode_put(id, client, key, value));
    for (const std::size_t asked : asked_) {
      if (links_[asked].connection == nullptr) continue;
      links_[asked].queue.Push(id, bytes);
      waiting_[id] |= Bit(asked);
    }
    if (!waiting_.contains(id)) ended_.push_back({id, false});
  }

  void Await(Clock::time_point until, std::vector<Ended>& ended) override {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      Link& link = links_[i];
      if (link.connection == nullptr) Connect(link);
      if (link.connection != nullptr) link.connection->Write(link.queue, scratch_);
      CheckEnded(i);
    }
    if (ended_.empty()) Poll(until);
    ended.insert(ended.end(), ended_.begin(), ended_.end());
    ended_.clear();
  }

 private:
  static unsigned Bit(std::size_t replica) { return 1U << replica; }

  // Does nothing soon after it has failed.
  void Connect(Link& link) const {
    constexpr Duration kPatience = 100ms;
    if (Clock::now() < link.try_again) return;
    link.try_again = Clock::now() + kBeforeReconnecting;
    try {
      // Only the greeting was sent, so the client's socket is as good as a new one.
      const real::Client greeted(link.endpoint, kNobody, kPatience);
      link.connection =
          std::make_unique<real::Connection>(real::Descriptor(dup(greeted.fd())), counters_);
      link.connection->reader().set_frame_bytes_max(kMaxFrameBytes);
      link.connection->set_writable();
      link.queue = {};
    } catch (const std::system_error&) {  // it is down
    }
  }

  // Asks until two replicas have answered that they propose.
  void AwaitProposers() {
    const auto deadline = Clock::now() + 10s;
    std::vector<std::size_t> found;
    while (Clock::now() < deadline) {
      found.clear();
      for (std::size_t i = 0; i < links_.size(); ++i) {
        if (Proposes(links_[i].endpoint, dialect_)) found.push_back(i);
      }
      if (found.size() >= 2) {
        asked_ = {found[0], found[1]};
        return;
      }
      poll(nullptr, 0, 20);
    }
    throw std::runtime_error("no two replicas have proposed within 10 s");
  }

  void Poll(Clock::time_point until) {
    std::vector<pollfd> polled;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].connection == nullptr) continue;
      const int events = links_[i].queue.empty() ? POLLIN : POLLIN | POLLOUT;
      polled.push_back({links_[i].connection->fd(), static_cast<short>(events), 0});
      of.push_back(i);
    }
    // A link that is down is tried again in time.
    const auto latest = of.size() < links_.size() ? Clock::now() + kBeforeReconnecting : until;
    PollUntil(std::min(until, latest), polled);
    for (std::size_t k = 0; k < polled.size(); ++k) {
      Link& link = links_[of[k]];
      if ((polled[k].revents & POLLOUT) != 0) link.connection->set_writable();
      if ((polled[k].revents & ~POLLOUT) != 0) Receive(of[k]);
    }
  }

  void Receive(std::size_t replica) {
    real::Connection& connection = *links_[replica].connection;
    connection.set_readable();
    connection.Read(std::size_t{1} << 20);
    while (const auto frame = connection.reader().Next()) {
      const auto answer = AnswerIn(dialect_, *frame);
      if (!answer) throw std::runtime_error("a replica answers with an error");
      Take(replica, *answer);
    }
    CheckEnded(replica);
  }

  void Take(std::size_t replica, const Answer& answer) {
    if (answer.outcome == PutOutcome::kNotLeader) Replace(replica);
    const auto put = waiting_.find(answer.call);
    if (put == waiting_.end()) return;  // the other pilot was first
    if (answer.outcome == PutOutcome::kCommitted) {
      ended_.push_back({answer.call, true});
      waiting_.erase(put);
      return;
    }
    put->second &= ~Bit(replica);
    if (put->second != 0) return;
    ended_.push_back({answer.call, false});
    waiting_.erase(put);
  }

  // A broken connection brings no answer any more.
  void CheckEnded(std::size_t replica) {
    Link& link = links_[replica];
    if (link.connection == nullptr || !link.connection->ended()) return;
    link.connection = nullptr;
    Replace(replica);
    for (auto put = waiting_.begin(); put != waiting_.end();) {
      put->second &= ~Bit(replica);
      if (put->second == 0) ended_.push_back({put->first, false});
      put = put->second == 0 ? waiting_.erase(put) : std::next(put);
    }
  }

  void Replace(std::size_t replica) {
    const auto place = std::find(asked_.begin(), asked_.end(), replica);
    if (place == asked_.end()) return;
    std::size_t next = replica;
    do {
      next = (next + 1) % links_.size();
    } while (std::find(asked_.begin(), asked_.end(), next) != asked_.end());
    *place = next;
  }

  const Dialect dialect_;
  const std::uint64_t run_;
  mutable real::NetworkCounters counters_;
  std::vector<Link> links_;                              // by replica
  std::array<std::size_t, 2> asked_{};                   // two replicas that propose; distinct
  std::unordered_map<std::uint64_t, unsigned> waiting_;  // by put: a bit for each replica asked
  std::vector<Ended> ended_;                             // not reported yet
  real::WriteScratch scratch_;
};

}  // namespace

std::unique_ptr<PutTarget> ConnectToPair(const Dialect& dialect, const TargetOptions& options) {
  return std::make_unique<PairTarget>(options, dialect);
}

}  // namespace depfast::load
