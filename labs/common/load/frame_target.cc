// Puts to the kit's replicas: frames on a few connections to the leader, one thread.
#include "frame_target.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "real/client.h"
#include "real/connection.h"

namespace depfast::load {

std::optional<Answer> AnswerIn(const Dialect& dialect, std::string_view bytes) {
  std::string error;
  const auto frame = DecodeFrame(bytes, error);
  if (!frame || frame->header.kind != FrameKind::kReply) return std::nullopt;
  const auto outcome = dialect.outcome_in(frame->body);
  if (!outcome) return std::nullopt;
  return Answer{frame->header.call, *outcome};
}

bool Proposes(const real::Endpoint& replica, const Dialect& dialect, Duration patience) {
  try {
    real::Client client(replica, kNobody, patience);
    client.Send(dialect.encode_probe());
    const auto bytes = client.Receive(patience);
    const auto answer = bytes ? AnswerIn(dialect, *bytes) : std::nullopt;
    return answer && answer->outcome == PutOutcome::kCommitted;
  } catch (const std::system_error&) {  // not up, or not yet
    return false;
  }
}

void PollUntil(Clock::time_point until, std::vector<pollfd>& polled) {
  const auto left = std::max<Clock::duration>(until - Clock::now(), Clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec timeout = {seconds.count(), (left - seconds).count()};
  if (ppoll(polled.data(), polled.size(), &timeout, nullptr) < 0) {
    if (errno != EINTR) real::ThrowErrno("poll");
    for (pollfd& each : polled) each.revents = 0;
  }
}

namespace {

// A leader that answers nothing for this time may lead no more: the others are asked, ...
constexpr auto kSilence = std::chrono::milliseconds(300);
// ... each for this time at most. A healthy new leader commits a probe in a few round trips.
constexpr Duration kProbePatience = 100ms;
constexpr auto kBetweenSearches = std::chrono::milliseconds(20);

class FrameTarget final : public PutTarget {
 public:
  FrameTarget(const TargetOptions& options, const Dialect& dialect)
      : dialect_(dialect), replicas_(options.replicas), lanes_(CountOf(options)) {
    const auto deadline = Clock::now() + 10s;
    for (leader_ = Search(500ms); !leader_; leader_ = Search(500ms)) {
      if (Clock::now() > deadline) throw std::runtime_error("no replica has led within 10 s");
      poll(nullptr, 0, 20);
    }
    Connect();
  }

  void Start(std::uint64_t id, std::string_view key, std::string_view value) override {
    if (under_way_.empty()) heard_ = Clock::now();
    const auto bytes = MakeBytes(dialect_.encode_put(id, Dependency::Client(id), key, value));
    under_way_.emplace(id, bytes);
    if (leader_) LaneOf(id).queue.Push(id, bytes);
  }

  void Await(Clock::time_point until, std::vector<Ended>& ended) override {
    if (leader_ && !under_way_.empty() && Clock::now() - heard_ > kSilence) AskTheOthers();
    if (!leader_ && !Reconnect()) {
      PollUntil(std::min(until, Clock::now() + kBetweenSearches), no_one_);
      return;
    }
    for (Lane& lane : lanes_) lane.connection->Write(lane.queue, scratch_);
    Poll(std::min(until, Clock::now() + kSilence));
    for (std::size_t i = 0; i < lanes_.size() && leader_; ++i) {
      if ((polled_[i].revents & POLLOUT) != 0) lanes_[i].connection->set_writable();
      if ((polled_[i].revents & ~POLLOUT) != 0) Receive(lanes_[i], ended);
    }
  }

  int leader_changes() const override { return leader_changes_; }

 private:
  struct Lane {
    std::unique_ptr<real::Connection> connection;  // null until a leader is known
    real::SendQueue queue;
  };

  static std::size_t CountOf(const TargetOptions& options) {
    return static_cast<std::size_t>(options.connections);
  }

  Lane& LaneOf(std::uint64_t id) { return lanes_[id % lanes_.size()]; }

  // A replica that leads, but not `but`; nothing if none says so.
  std::optional<std::size_t> Search(Duration patience, std::optional<std::size_t> but = {}) const {
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (i != but && Proposes(replicas_[i], dialect_, patience)) return i;
    }
    return std::nullopt;
  }

  // New connections to the leader, with all puts that have no answer. Throws std::system_error.
  void Connect() {
    polled_.clear();
    for (Lane& lane : lanes_) {
      // Only the greeting was sent, so the client's socket is as good as a new one.
      const real::Client greeted(replicas_[*leader_]);
      lane.connection =
          std::make_unique<real::Connection>(real::Descriptor(dup(greeted.fd())), counters_);
      lane.connection->reader().set_frame_bytes_max(kMaxFrameBytes);
      lane.connection->set_writable();
      lane.queue = {};
      polled_.push_back({lane.connection->fd(), POLLIN, 0});
    }
    for (const auto& [id, bytes] : under_way_) LaneOf(id).queue.Push(id, bytes);
    last_ = *leader_;
    heard_ = Clock::now();
  }

  bool Reconnect() {
    leader_ = Search(kProbePatience);
    return leader_ && TryToConnect();
  }

  // Stays with a leader that is slow while nobody else leads.
  void AskTheOthers() {
    heard_ = Clock::now();
    if (const auto found = Search(kProbePatience, leader_)) {
      leader_ = found;
      TryToConnect();
    }
  }

  bool TryToConnect() {
    const std::size_t before = last_;
    try {
      Connect();
    } catch (const std::system_error&) {  // it has died since
      leader_.reset();
      return false;
    }
    if (before != last_) ++leader_changes_;
    return true;
  }

  void Poll(Clock::time_point until) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      polled_[i].events = lanes_[i].queue.empty() ? POLLIN : POLLIN | POLLOUT;
    }
    PollUntil(until, polled_);
  }

  void Receive(Lane& lane, std::vector<Ended>& ended) {
    lane.connection->set_readable();
    lane.connection->Read(std::size_t{1} << 20);
    while (const auto frame = lane.connection->reader().Next()) {
      const auto answer = AnswerIn(dialect_, *frame);
      if (!answer) throw std::runtime_error("the leader answers with an error");
      if (answer->outcome == PutOutcome::kNotLeader) {
        leader_.reset();
        return;
      }
      heard_ = Clock::now();
      under_way_.erase(answer->call);
      ended.push_back({answer->call, answer->outcome == PutOutcome::kCommitted});
    }
    if (lane.connection->ended()) leader_.reset();
  }

  const Dialect dialect_;
  const std::vector<real::Endpoint> replicas_;
  real::NetworkCounters counters_;
  std::vector<Lane> lanes_;
  std::vector<pollfd> polled_;  // as lanes_
  std::vector<pollfd> no_one_;
  real::WriteScratch scratch_;
  std::map<std::uint64_t, Bytes> under_way_;  // puts, as frames
  std::optional<std::size_t> leader_;         // nothing while it is looked for
  std::size_t last_ = 0;                      // the latest leader
  Clock::time_point heard_{};                 // the latest answer of the leader
  int leader_changes_ = 0;
};

}  // namespace

std::unique_ptr<PutTarget> ConnectWith(const Dialect& dialect, const TargetOptions& options) {
  return std::make_unique<FrameTarget>(options, dialect);
}

}  // namespace depfast::load
