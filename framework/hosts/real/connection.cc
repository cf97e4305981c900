#include "real/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace depfast::real {
namespace {

constexpr int kUnsentBytesMax = 128 * 1024;

// A machine that vanished sends no reset. Its connections end when it has acknowledged neither data
// nor a probe for this time. A slow or stopped process keeps its connections while its window is
// open, because its kernel acknowledges.
constexpr int kSilenceMaxMs = 30'000;
constexpr int kProbeAfterSeconds = 10;
constexpr int kProbeEverySeconds = 5;

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

Connection::Connection(Descriptor socket, NetworkCounters& counters)
    : socket_(std::move(socket)), counters_(&counters) {}

void Connection::Read(std::size_t bytes_max) {
  std::size_t total = 0;
  while (readable_ && !ended_ && total < bytes_max) {
    const auto room = reader_.Room();
    const std::size_t wanted = std::min(room.size(), bytes_max - total);
    const ssize_t got = recv(fd(), room.data(), wanted, 0);
    counters_->reads.Add();
    if (got > 0) {
      const auto bytes = static_cast<std::size_t>(got);
      reader_.Commit(bytes);
      counters_->bytes_in.Add(bytes);
      total += bytes;
      // A short read has emptied the stream; later bytes cause a new event.
      readable_ = bytes == wanted;
    } else if (got == 0) {
      End(0);
    } else if (WouldBlock(errno)) {
      readable_ = false;
    } else if (errno != EINTR) {
      End(errno);
    }
  }
}

std::size_t Connection::Write(SendQueue& queue, WriteScratch& scratch) {
  std::size_t frames = 0;
  while (writable_ && !ended_ && !queue.empty()) {
    const auto pieces = queue.Gather(scratch);
    msghdr message = {};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = pieces.size();
    const ssize_t sent = sendmsg(fd(), &message, MSG_NOSIGNAL);
    counters_->writes.Add();
    if (sent >= 0) {
      const auto bytes = static_cast<std::size_t>(sent);
      std::size_t offered = 0;
      for (const iovec& piece : pieces) offered += piece.iov_len;
      counters_->bytes_out.Add(bytes);
      frames += queue.Consume(bytes);
      writable_ = bytes == offered;
    } else if (WouldBlock(errno)) {
      writable_ = false;
    } else if (errno != EINTR) {
      End(errno);
    }
  }
  counters_->frames_out.Add(frames);
  return frames;
}

void Connection::WriteGreeting(std::string_view bytes) {
  const ssize_t sent = send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  counters_->writes.Add();
  if (sent != static_cast<ssize_t>(bytes.size())) End(sent < 0 ? errno : EIO);
}

void Connection::End(int error) {
  ended_ = true;
  error_ = error;
  readable_ = writable_ = false;
}

void ConfigureSocket(int fd) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kProbeAfterSeconds, sizeof kProbeAfterSeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeEverySeconds, sizeof kProbeEverySeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kSilenceMaxMs, sizeof kSilenceMaxMs);
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytesMax, sizeof kUnsentBytesMax);
}

}  // namespace depfast::real
