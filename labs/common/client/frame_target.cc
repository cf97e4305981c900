// Puts to the kit's replicas: frames on a few connections to the leader, one thread.
#include "frame_target.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
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

bool Proposes(const real::Endpoint& replica, const Dialect& dialect) {
  constexpr Duration kPatience = 500ms;
  try {
    real::Client client(replica, kNobody, kPatience);
    client.Send(dialect.encode_probe());
    const auto bytes = client.Receive(kPatience);
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

real::Endpoint FindLeader(const std::vector<real::Endpoint>& replicas, const Dialect& dialect) {
  const auto deadline = Clock::now() + 10s;
  while (Clock::now() < deadline) {
    for (const auto& replica : replicas) {
      if (Proposes(replica, dialect)) return replica;
    }
    poll(nullptr, 0, 20);
  }
  throw std::runtime_error("no replica has led within 10 s");
}

class FrameTarget final : public PutTarget {
 public:
  FrameTarget(const TargetOptions& options, const Dialect& dialect) : dialect_(dialect) {
    const auto leader = FindLeader(options.replicas, dialect);
    for (int i = 0; i < options.connections; ++i) {
      // Only the greeting was sent, so the client's socket is as good as a new one.
      const real::Client greeted(leader);
      auto& lane = lanes_.emplace_back(real::Descriptor(dup(greeted.fd())), counters_);
      lane.connection.reader().set_frame_bytes_max(kMaxFrameBytes);
      lane.connection.set_writable();
      polled_.push_back({lane.connection.fd(), POLLIN, 0});
    }
  }

  void Start(std::uint64_t id, std::string_view key, std::string_view value) override {
    lanes_[id % lanes_.size()].queue.Push(
        id, MakeBytes(dialect_.encode_put(id, Dependency::Client(id), key, value)));
  }

  void Await(Clock::time_point until, std::vector<Ended>& ended) override {
    for (Lane& lane : lanes_) lane.connection.Write(lane.queue, scratch_);
    Poll(until);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& lane = lanes_[i];
      if ((polled_[i].revents & POLLOUT) != 0) lane.connection.set_writable();
      if ((polled_[i].revents & ~POLLOUT) != 0) Receive(lane, ended);
    }
  }

 private:
  struct Lane {
    Lane(real::Descriptor socket, real::NetworkCounters& counters)
        : connection(std::move(socket), counters) {}
    real::Connection connection;
    real::SendQueue queue;
  };

  void Poll(Clock::time_point until) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      polled_[i].events = lanes_[i].queue.empty() ? POLLIN : POLLIN | POLLOUT;
    }
    PollUntil(until, polled_);
  }

  void Receive(Lane& lane, std::vector<Ended>& ended) {
    lane.connection.set_readable();
    lane.connection.Read(std::size_t{1} << 20);
    while (const auto frame = lane.connection.reader().Next()) {
      const auto answer = AnswerIn(dialect_, *frame);
      if (!answer) throw std::runtime_error("the leader answers with an error");
      if (answer->outcome == PutOutcome::kNotLeader) {
        throw std::runtime_error("the leader changed during the measurement");
      }
      ended.push_back({answer->call, answer->outcome == PutOutcome::kCommitted});
    }
    if (lane.connection.ended()) throw std::runtime_error("the leader closed a connection");
  }

  const Dialect dialect_;
  real::NetworkCounters counters_;
  std::vector<Lane> lanes_;
  std::vector<pollfd> polled_;  // as lanes_
  real::WriteScratch scratch_;
};

}  // namespace

std::unique_ptr<PutTarget> ConnectWith(const Dialect& dialect, const TargetOptions& options) {
  return std::make_unique<FrameTarget>(options, dialect);
}

}  // namespace depfast::load
