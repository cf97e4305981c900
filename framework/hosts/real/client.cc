#include "real/client.h"

#include <poll.h>
#include <sys/socket.h>

#include <chrono>

#include "real/connection.h"

namespace depfast::real {
namespace {

using Clock = std::chrono::steady_clock;

// Waits until `events` hold; returns false when the deadline has passed.
bool Await(int fd, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd poller = {fd, events, 0};
    const int count = poll(&poller, 1, left.count() < 0 ? 0 : static_cast<int>(left.count()));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) ThrowErrno("poll");
    if (count == 0 && Clock::now() >= deadline) return false;
  }
}

[[noreturn]] void Throw(int error, const std::string& what) {
  errno = error;
  ThrowErrno(what);
}

}  // namespace

Client::Client(const Endpoint& replica, PeerId id, Duration timeout) {
  const std::string what = "cannot connect to " + ToString(replica);
  const auto deadline = Clock::now() + timeout;
  const sockaddr_in address = Resolve(replica);
  socket_ = Checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), what);
  ConfigureSocket(socket_.get());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (connect(socket_.get(), generic, sizeof address) != 0 && errno != EINPROGRESS) {
    ThrowErrno(what);
  }
  if (!Await(socket_.get(), POLLOUT, deadline)) Throw(ETIMEDOUT, what);
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) Throw(error, what);
  SendRaw(EncodeHello({id, kNobody}), timeout);
  const auto answer = Receive(deadline - Clock::now());
  if (!answer) Throw(ETIMEDOUT, what);
  const auto hello = DecodeHello(*answer);
  if (!hello) Throw(EPROTO, what);
  id_ = hello->to;
  replica_ = hello->from;
}

void Client::Send(std::string_view frame, Duration timeout) {
  std::string bytes;
  bytes.reserve(kLengthBytes + frame.size());
  const auto length = EncodeLength(frame.size());
  bytes.append(length.data(), length.size());
  bytes.append(frame);
  SendRaw(bytes, timeout);
}

void Client::SendRaw(std::string_view bytes, Duration timeout) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      ThrowErrno("send");
    } else if (!Await(socket_.get(), POLLOUT, Clock::now() + timeout)) {
      Throw(ETIMEDOUT, "send");
    }
  }
}

std::optional<std::string> Client::Receive(Duration timeout) {
  const auto deadline = Clock::now() + timeout;
  while (true) {
    if (const auto frame = reader_.Next()) return std::string(*frame);
    if (reader_.broken()) Throw(EPROTO, "receive");
    const auto room = reader_.Room();
    const ssize_t got = recv(socket_.get(), room.data(), room.size(), 0);
    if (got > 0) {
      reader_.Commit(static_cast<std::size_t>(got));
    } else if (got == 0) {
      Throw(ECONNRESET, "receive");
    } else if (errno != EAGAIN && errno != EINTR) {
      ThrowErrno("receive");
    } else if (!Await(socket_.get(), POLLIN, deadline)) {
      return std::nullopt;
    }
  }
}

}  // namespace depfast::real
