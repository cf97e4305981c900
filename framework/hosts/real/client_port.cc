#include "real/client_port.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "real/connection.h"
#include "real/endpoint.h"

namespace depfast::real {
namespace {

constexpr EventLoop::Token kListenerToken = ClientPort::kFirstToken;
constexpr std::uint32_t kStreamEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr std::size_t kReadBytesPerTurn = 64 * 1024;
// Interval of the search for clients that do not read, while there may be some.
constexpr Duration kLookEvery = 1s;
// The bytes that the port discards after the end of a conversation. A client may be in the middle
// of a long request, which caused the end.
constexpr std::size_t kDiscardedBytesMax = std::size_t{1} << 30;

Descriptor SpareDescriptor() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

ClientPort::ClientPort(ClientProtocol protocol, PeerId replica, Descriptor listener,
                       EventLoop& loop, NetworkCounters& counters, const std::string& disk_failure,
                       const ClientPortLimits& limits)
    : protocol_(std::move(protocol)),
      limits_(limits),
      budget_(limits.held_bytes_max),
      unfinished_(limits.unfinished_bytes_max),
      context_{.replica = replica,
               .port = PortOf(listener.get()),
               .disk_failure = &disk_failure,
               .budget = &budget_,
               .unfinished = &unfinished_},
      loop_(loop),
      counters_(counters),
      listener_(std::move(listener)),
      spare_(SpareDescriptor()) {
  loop_.Watch(listener_.get(), EPOLLIN, kListenerToken);
}

EventLoop::Token ClientPort::TokenOf(PeerId client) {
  return kListenerToken + 1 + static_cast<EventLoop::Token>(client - kFirstClientId);
}

ClientContext ClientPort::ContextOf(PeerId client) {
  ClientContext context = context_;
  context.client = client;
  context.on_answer = [this, client] { OnAnswer(client); };
  context.connection = std::int64_t{client} - kFirstClientId + 1;
  return context;
}

void ClientPort::MarkReady(PeerId id, Client& client) {
  if (!std::exchange(client.in_ready, true)) ready_.push_back(id);
}

void ClientPort::MarkDirty(PeerId id, Client& client) {
  if (!std::exchange(client.in_dirty, true)) dirty_.push_back(id);
}

// Requests and answers count as the frames that they are for other clients.
void ClientPort::OnAnswer(PeerId client) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  counters_.frames_out.Add();
  counters_.client_frames_out.Add();
  MarkDirty(client, found->second);
}

void ClientPort::OnTime(Time now) {
  now_ = now;
  if (now < look_at_) return;
  look_at_ = kNever;
  for (auto& [id, client] : clients_) {
    if (client.unread() <= limits_.unread_bytes_max) continue;
    look_at_ = now + kLookEvery;
    if (now - client.taken_at < limits_.unread_time_max) continue;
    client.broken = true;
    MarkDirty(id, client);  // Flush closes the connection
  }
}

void ClientPort::OnEvent(EventLoop::Token token, std::uint32_t events) {
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

void ClientPort::Accept() {
  while (true) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.valid()) {
      ConfigureSocket(socket.get());
      counters_.accepted.Add();
      const int fd = socket.get();
      const PeerId id = ++last_client_;
      Client& client = clients_[id];
      client.socket = std::move(socket);
      client.taken_at = now_;
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
void ClientPort::RefuseOne() {
  spare_.Close();
  const Descriptor refused(accept(listener_.get(), nullptr, nullptr));
  spare_ = SpareDescriptor();
}

std::size_t ClientPort::Receive(Rpc* replica) {
  std::size_t sent = 0;
  for (const PeerId id : std::exchange(ready_, {})) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) continue;
    Client& client = found->second;
    client.in_ready = false;
    Read(client);
    const std::size_t requests = client.conversation->SendRequests(replica);
    counters_.frames_in.Add(requests);
    counters_.client_frames_in.Add(requests);
    sent += requests;
    MarkDirty(id, client);
  }
  return sent;
}

bool ClientPort::MayRead(const Client& client) const {
  if (!client.readable || client.ended) return false;
  if (client.finished) return true;
  return !client.conversation->IsOver() && client.conversation->WantsBytes() &&
         client.unread() + client.delayed <= limits_.unread_bytes_max;
}

void ClientPort::Read(Client& client) {
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

void ClientPort::Discard(Client& client, std::size_t bytes) {
  client.discarded += bytes;
  if (client.discarded > kDiscardedBytesMax) client.broken = true;
}

void ClientPort::Flush() {
  for (const PeerId id : std::exchange(dirty_, {})) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) continue;
    Client& client = found->second;
    client.in_dirty = false;
    TakeOutput(id, client);
    Write(client);
    TakeOutput(id, client);  // the room may have let the conversation go on
    if (IsAllSaid(client)) Finish(client);
    if (IsDone(client)) {
      clients_.erase(found);  // closing the socket ends its watch
      continue;
    }
    GoOn(id, client);
  }
  if (!waiting_.empty()) LetOthersGoOn();
}

void ClientPort::TakeOutput(PeerId id, Client& client) {
  std::string answers = client.conversation->TakeOutput();
  const std::size_t bytes = answers.size();
  if (bytes > 0 && delay_ && delay_(id, answers)) {
    client.delayed += bytes;
  } else if (client.output.empty()) {
    client.output = std::move(answers);
  } else {
    client.output += answers;
  }
}

void ClientPort::Arrive(PeerId client, std::string_view answers) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  found->second.delayed -= answers.size();
  found->second.output += answers;
  MarkDirty(client, found->second);
}

// Answers that have come or left may have made room for more commands, from the socket or held back
// by the conversation.
void ClientPort::GoOn(PeerId id, Client& client) {
  if (client.unread() > limits_.unread_bytes_max) look_at_ = std::min(look_at_, now_ + kLookEvery);
  const bool may_write = client.writable && client.unread() > 0;
  if (may_write || MayRead(client) || client.conversation->HasRequests()) MarkReady(id, client);
  if (client.conversation->WaitsForOthers() && !std::exchange(client.in_waiting, true)) {
    waiting_.push_back(id);
  }
}

// In the order in which they began to wait. Those that find no room wait again.
void ClientPort::LetOthersGoOn() {
  if (!budget_.HasRoomFor(1)) return;
  for (const PeerId id : std::exchange(waiting_, {})) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) continue;
    found->second.in_waiting = false;
    found->second.conversation->OnRoom(0);
    TakeOutput(id, found->second);
    GoOn(id, found->second);
  }
}

void ClientPort::CloseAll() {
  clients_.clear();
  ready_.clear();
  dirty_.clear();
  waiting_.clear();
}

void ClientPort::Write(Client& client) {
  std::size_t taken = 0;
  while (client.writable && !client.broken && client.unread() > 0) {
    const ssize_t sent = send(client.socket.get(), client.output.data() + client.written,
                              client.unread(), MSG_NOSIGNAL);
    counters_.writes.Add();
    if (sent >= 0) {
      client.written += static_cast<std::size_t>(sent);
      taken += static_cast<std::size_t>(sent);
      counters_.bytes_out.Add(static_cast<std::uint64_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      client.writable = false;
    } else if (errno != EINTR) {
      client.broken = true;
    }
  }
  if (taken > 0) client.conversation->OnRoom(taken);
  if (taken > 0 || client.unread() == 0) client.taken_at = now_;
  // Bytes that have left must not stay in memory until the last of a long output has.
  if (client.written > client.unread()) {
    client.output.erase(0, client.written);
    client.written = 0;
  }
  if (client.output.empty()) client.output.shrink_to_fit();
}

bool ClientPort::IsAllSaid(const Client& client) {
  const bool over =
      client.conversation->IsOver() || (client.ended && client.conversation->IsIdle());
  return over && client.unread() == 0 && client.delayed == 0;
}

// The client sees the end of the stream behind its last answer. The port does not close the socket
// yet: when a socket with unread bytes is closed, the kernel resets the connection, and the client
// may lose the answers that it has not read.
void ClientPort::Finish(Client& client) {
  if (std::exchange(client.finished, true)) return;
  if (shutdown(client.socket.get(), SHUT_WR) != 0) client.broken = true;
}

bool ClientPort::IsDone(const Client& client) {
  return client.broken || (client.finished && client.ended);
}

}  // namespace depfast::real
