#include "real/foreign_port.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "real/connection.h"
#include "real/endpoint.h"

namespace depfast::real {
namespace {

constexpr EventLoop::Token kListenerToken = ForeignPort::kFirstToken;
constexpr std::uint32_t kStreamEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr std::size_t kReadBytesPerTurn = 64 * 1024;
// Above this many unread answer bytes the port stops reading from the client.
constexpr std::size_t kUnreadAnswersMax = std::size_t{1} << 20;
// Above this many unread answer bytes the port closes the connection.
constexpr std::size_t kUnreadAnswersLimit = std::size_t{64} << 20;
// The bytes that the port discards after the end of a conversation. A client may be in the middle
// of a long request, which caused the end.
constexpr std::size_t kDiscardedBytesMax = std::size_t{1} << 30;

Descriptor SpareDescriptor() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

ForeignPort::ForeignPort(ForeignProtocol protocol, PeerId replica, Descriptor listener,
                         EventLoop& loop, NetworkCounters& counters,
                         const std::string& disk_failure)
    : protocol_(std::move(protocol)),
      context_{replica, PortOf(listener.get()), 0, &disk_failure},
      loop_(loop),
      counters_(counters),
      listener_(std::move(listener)),
      spare_(SpareDescriptor()) {
  loop_.Watch(listener_.get(), EPOLLIN, kListenerToken);
}

EventLoop::Token ForeignPort::TokenOf(PeerId client) {
  return kListenerToken + 1 + static_cast<EventLoop::Token>(client - kFirstClientId);
}

ForeignContext ForeignPort::ContextOf(PeerId client) const {
  ForeignContext context = context_;
  context.connection = std::int64_t{client} - kFirstClientId + 1;
  return context;
}

void ForeignPort::MarkReady(PeerId id, Client& client) {
  if (!std::exchange(client.in_ready, true)) ready_.push_back(id);
}

void ForeignPort::MarkDirty(PeerId id, Client& client) {
  if (!std::exchange(client.in_dirty, true)) dirty_.push_back(id);
}

void ForeignPort::Send(PeerId client, std::string_view frame) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) {
    counters_.dropped_frames.Add();
    return;
  }
  counters_.frames_out.Add();
  counters_.client_frames_out.Add();
  found->second.conversation->OnFrame(frame);
  MarkDirty(client, found->second);
}

void ForeignPort::OnEvent(EventLoop::Token token, std::uint32_t events) {
  if (token == kListenerToken) {
    Accept();
    return;
  }
  const PeerId id = kFirstClientId + static_cast<PeerId>(token - kListenerToken - 1);
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;  // closed in this very turn
  Client& client = found->second;
  if ((events & EPOLLOUT) != 0) {
    client.writable = true;
    MarkDirty(id, client);
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    client.readable = true;
    client.hung_up |= (events & ~(EPOLLIN | EPOLLOUT)) != 0;
    MarkReady(id, client);
  }
}

void ForeignPort::Accept() {
  while (true) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.valid()) {
      ConfigureSocket(socket.get());
      counters_.accepted.Add();
      const int fd = socket.get();
      const PeerId id = ++last_client_;
      Client& client = clients_[id];
      client.socket = std::move(socket);
      client.conversation = protocol_.make_conversation(ContextOf(id));
      loop_.Watch(fd, kStreamEvents, TokenOf(id));
    } else if (errno == EMFILE || errno == ENFILE) {
      RefuseOne();
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

// The process is out of descriptors: accepts one waiting client and closes its connection.
// Otherwise the listener would stay readable for ever.
void ForeignPort::RefuseOne() {
  spare_.Close();
  const Descriptor refused(accept(listener_.get(), nullptr, nullptr));
  spare_ = SpareDescriptor();
}

std::size_t ForeignPort::Receive(const Network::Deliver& deliver) {
  std::size_t delivered = 0;
  for (const PeerId id : std::exchange(ready_, {})) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) continue;
    Client& client = found->second;
    client.in_ready = false;
    Read(client);
    for (const std::string& frame : client.conversation->TakeFrames()) {
      counters_.frames_in.Add();
      counters_.client_frames_in.Add();
      ++delivered;
      deliver(id, frame);
    }
    MarkDirty(id, client);
  }
  return delivered;
}

bool ForeignPort::MayRead(const Client& client) {
  if (!client.readable || client.ended) return false;
  if (client.finished) return true;
  return !client.conversation->IsOver() && client.conversation->WantsBytes() &&
         client.output.size() - client.written <= kUnreadAnswersMax;
}

void ForeignPort::Read(Client& client) {
  static thread_local std::array<char, kReadBytesPerTurn> buffer;
  if (!MayRead(client)) return;
  const ssize_t got = recv(client.socket.get(), buffer.data(), buffer.size(), 0);
  counters_.reads.Add();
  if (got > 0) {
    const auto bytes = static_cast<std::size_t>(got);
    counters_.bytes_in.Add(bytes);
    // A short read has emptied the stream, and later bytes cause a new event. But an end of stream
    // that has arrived already was reported together with these bytes.
    client.readable = client.hung_up || bytes == buffer.size();
    if (client.finished) {
      Discard(client, bytes);
    } else {
      client.conversation->OnBytes({buffer.data(), bytes});
    }
  } else if (got == 0) {
    client.ended = true;
  } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
    client.readable = false;
  } else if (errno != EINTR) {
    client.ended = client.broken = true;
  }
}

void ForeignPort::Discard(Client& client, std::size_t bytes) {
  client.discarded += bytes;
  if (client.discarded > kDiscardedBytesMax) client.broken = true;
}

void ForeignPort::Flush() {
  for (const PeerId id : std::exchange(dirty_, {})) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) continue;
    Client& client = found->second;
    client.in_dirty = false;
    client.output += client.conversation->TakeOutput();
    Write(client);
    if (client.output.size() - client.written > kUnreadAnswersLimit) client.broken = true;
    if (IsAllSaid(client)) Finish(client);
    if (IsDone(client)) {
      clients_.erase(found);  // closing the socket ends its watch
      continue;
    }
    // Answers may have made room for more commands, from the socket or held back by the
    // conversation.
    if (MayRead(client) || client.conversation->HasFrames()) MarkReady(id, client);
  }
}

void ForeignPort::CloseAll() {
  clients_.clear();
  ready_.clear();
  dirty_.clear();
}

void ForeignPort::Write(Client& client) {
  while (client.writable && !client.broken && client.written < client.output.size()) {
    const ssize_t sent = send(client.socket.get(), client.output.data() + client.written,
                              client.output.size() - client.written, MSG_NOSIGNAL);
    counters_.writes.Add();
    if (sent >= 0) {
      client.written += static_cast<std::size_t>(sent);
      counters_.bytes_out.Add(static_cast<std::uint64_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      client.writable = false;
    } else if (errno != EINTR) {
      client.broken = true;
    }
  }
  if (client.written == client.output.size()) {
    client.output.clear();
    client.written = 0;
  }
}

bool ForeignPort::IsAllSaid(const Client& client) {
  const bool over =
      client.conversation->IsOver() || (client.ended && client.conversation->IsIdle());
  return over && client.written == client.output.size();
}

// The client sees the end of the stream behind its last answer. The port does not close the socket
// yet: when a socket with unread bytes is closed, the kernel resets the connection, and the client
// may lose the answers that it has not read.
void ForeignPort::Finish(Client& client) {
  if (std::exchange(client.finished, true)) return;
  if (shutdown(client.socket.get(), SHUT_WR) != 0) client.broken = true;
}

bool ForeignPort::IsDone(const Client& client) {
  return client.broken || (client.finished && client.ended);
}

}  // namespace depfast::real
