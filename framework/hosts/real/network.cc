#include "real/network.h"

#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace depfast::real {
namespace {

constexpr EventLoop::Token kListenerToken = Network::kFirstToken;
constexpr Duration kAcceptPause = 100ms;
constexpr std::uint32_t kStreamEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

}  // namespace

Network::Network(NetworkOptions options, Descriptor listener, EventLoop& loop,
                 NetworkCounters& counters, Log log, OnLink on_link)
    : options_(std::move(options)),
      loop_(loop),
      counters_(counters),
      log_(std::move(log)),
      on_link_(std::move(on_link)),
      listener_(std::move(listener)),
      links_(options_.replicas.size()),
      replicas_(options_.replicas.size()),
      incoming_(options_.replicas.size()) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].address = Resolve(options_.replicas[i]);
    links_[i].backoff = options_.reconnect_min;
    if (static_cast<PeerId>(i) == options_.self) links_[i].connect_at = kNever;
  }
  loop_.Watch(listener_.get(), EPOLLIN, kListenerToken);
}

bool Network::IsReplica(PeerId id) const {
  return id >= 0 && static_cast<std::size_t>(id) < replicas_.size();
}

Network::Outbox* Network::FindOutbox(PeerId id) {
  if (IsReplica(id)) return &replicas_[static_cast<std::size_t>(id)];
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : &found->second;
}

void Network::MarkDirty(PeerId id, Outbox& outbox) {
  if (!std::exchange(outbox.in_dirty, true)) dirty_.push_back(id);
}

void Network::MarkReady(EventLoop::Token token, Peer& peer) {
  if (!std::exchange(peer.in_ready, true)) ready_.push_back(token);
}

// --- sending ---

void Network::Send(PeerId peer, FrameId frame, Bytes bytes) {
  assert(peer != options_.self);
  Outbox* const outbox = FindOutbox(peer);
  if (outbox == nullptr) {
    counters_.dropped_frames.Add();
    return;
  }
  outbox->queue.Push(frame, std::move(bytes));
  const std::size_t bound =
      outbox->connection != 0 ? options_.held_bytes_max : options_.held_bytes_disconnected_max;
  if (outbox->queue.bytes() > bound) counters_.dropped_frames.Add(outbox->queue.DropOldest(bound));
  MarkDirty(peer, *outbox);
}

void Network::Release(PeerId peer, FrameId frame) {
  Outbox* const outbox = FindOutbox(peer);
  if (outbox != nullptr && outbox->queue.Release(frame)) counters_.released_frames.Add();
}

std::size_t Network::HeldBytes(PeerId peer) const {
  return replicas_.at(static_cast<std::size_t>(peer)).queue.bytes();
}

void Network::Flush() {
  for (const PeerId id : dirty_) {
    Outbox* const outbox = FindOutbox(id);
    if (outbox == nullptr) continue;  // the client has gone
    outbox->in_dirty = false;
    const auto found = peers_by_token_.find(outbox->connection);
    if (found == peers_by_token_.end()) continue;  // written once the peer has greeted
    Peer& peer = *found->second;
    const std::size_t frames = peer.connection.Write(outbox->queue, scratch_);
    if (!IsReplica(id)) counters_.client_frames_out.Add(frames);
    // Bytes that arrived before the end are still unread; Receive closes the connection.
    if (peer.connection.ended()) MarkReady(found->first, peer);
  }
  dirty_.clear();
}

// --- connections ---

void Network::OnEvent(EventLoop::Token token, std::uint32_t events) {
  if (token == kListenerToken) {
    Accept();
    return;
  }
  const auto found = peers_by_token_.find(token);
  if (found == peers_by_token_.end()) return;  // closed in this very turn
  Peer& peer = *found->second;
  if (peer.state == State::kConnecting) {
    FinishConnect(token, peer);
    return;
  }
  if ((events & EPOLLOUT) != 0) {
    peer.connection.set_writable();
    if (peer.state == State::kOpen) {
      if (Outbox* const outbox = FindOutbox(peer.id); outbox != nullptr) {
        MarkDirty(peer.id, *outbox);
      }
    }
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    peer.connection.set_readable();
    MarkReady(token, peer);
  }
}

EventLoop::Token Network::Add(Descriptor socket, State state, bool outgoing, PeerId id) {
  const int fd = socket.get();
  const EventLoop::Token token = ++last_token_;
  peers_by_token_.emplace(token, std::make_unique<Peer>(Peer{
                                     state, outgoing, false, id, now_ + options_.greeting_timeout,
                                     Connection(std::move(socket), counters_)}));
  ++not_open_;
  loop_.Watch(fd, kStreamEvents, token);
  return token;
}

void Network::Close(EventLoop::Token token, const std::string& reason) {
  const auto found = peers_by_token_.find(token);
  const std::unique_ptr<Peer> peer = std::move(found->second);
  peers_by_token_.erase(found);  // closing the socket ends its watch
  if (peer->state != State::kOpen) --not_open_;
  if (!reason.empty()) log_("connection with " + NameOf(*peer) + " closed: " + reason);
  if (peer->outgoing) {
    Outbox& outbox = replicas_[static_cast<std::size_t>(peer->id)];
    outbox.connection = 0;
    outbox.queue.Rewind();
    counters_.dropped_frames.Add(outbox.queue.DropOldest(options_.held_bytes_disconnected_max));
    counters_.lost.Add();
    ScheduleReconnect(peer->id);
    if (peer->state == State::kOpen && on_link_) on_link_(peer->id, /*is_up=*/false);
  } else if (IsReplica(peer->id)) {
    auto& incoming = incoming_[static_cast<std::size_t>(peer->id)];
    if (incoming == token) incoming = 0;
  } else if (const auto client = clients_.find(peer->id);
             client != clients_.end() && client->second.connection == token) {
    clients_.erase(client);
  }
}

void Network::CloseMalformed(EventLoop::Token token, const std::string& reason) {
  counters_.malformed.Add();
  Close(token, reason);
}

void Network::Accept() {
  while (true) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.valid()) {
      if (!in_service_) continue;
      ConfigureSocket(socket.get());
      counters_.accepted.Add();
      Add(std::move(socket), State::kGreeting, /*outgoing=*/false, kNobody);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      log_(std::string("cannot accept connections for a moment: ") + std::strerror(errno));
      loop_.Unwatch(listener_.get());
      accept_again_at_ = now_ + kAcceptPause;
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void Network::Connect(PeerId id) {
  Link& link = links_[static_cast<std::size_t>(id)];
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) {
    ScheduleReconnect(id);
    return;
  }
  ConfigureSocket(socket.get());
  const auto* address = reinterpret_cast<const sockaddr*>(&link.address);
  if (connect(socket.get(), address, sizeof link.address) != 0 && errno != EINPROGRESS) {
    counters_.lost.Add();
    ScheduleReconnect(id);
    return;
  }
  link.connect_at = kNever;
  Add(std::move(socket), State::kConnecting, /*outgoing=*/true, id);
}

void Network::FinishConnect(EventLoop::Token token, Peer& peer) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(peer.connection.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    Close(token, "");  // a peer that is not up yet needs no log line
    return;
  }
  peer.state = State::kGreeting;
  peer.connection.set_writable();
  peer.connection.WriteGreeting(EncodeHello({options_.self, peer.id}));
  peer.connection.set_readable();
  MarkReady(token, peer);
}

void Network::ScheduleReconnect(PeerId id) {
  Link& link = links_[static_cast<std::size_t>(id)];
  link.connect_at = now_ + link.backoff;
  link.backoff = std::min(link.backoff * 2, options_.reconnect_max);
}

void Network::OnTime(Time now) {
  now_ = now;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].connect_at <= now) Connect(static_cast<PeerId>(i));
  }
  if (accept_again_at_ <= now) {
    accept_again_at_ = kNever;
    loop_.Watch(listener_.get(), EPOLLIN, kListenerToken);
  }
  if (not_open_ == 0) return;
  std::vector<EventLoop::Token> late;
  for (const auto& [token, peer] : peers_by_token_) {
    if (peer->greet_by <= now) late.push_back(token);
  }
  for (const EventLoop::Token token : late) Close(token, "no greeting within the timeout");
}

Time Network::NextDeadline() const {
  Time next = accept_again_at_;
  for (const Link& link : links_) next = std::min(next, link.connect_at);
  if (not_open_ == 0) return next;
  for (const auto& [token, peer] : peers_by_token_) next = std::min(next, peer->greet_by);
  return next;
}

void Network::TakeOutOfService() {
  in_service_ = false;
  peers_by_token_.clear();
  not_open_ = 0;
  ready_.clear();
  dirty_.clear();
  clients_.clear();
  std::fill(incoming_.begin(), incoming_.end(), 0);
  for (Outbox& outbox : replicas_) outbox = {};
  for (Link& link : links_) link.connect_at = kNever;
}

void Network::ReturnToService() {
  in_service_ = true;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (static_cast<PeerId>(i) == options_.self) continue;
    links_[i].backoff = options_.reconnect_min;
    links_[i].connect_at = now_;
  }
}

// --- receiving ---

std::size_t Network::Receive(const Deliver& deliver) {
  std::size_t delivered = 0;
  for (const EventLoop::Token token : std::exchange(ready_, {})) {
    const auto found = peers_by_token_.find(token);
    if (found == peers_by_token_.end()) continue;
    found->second->in_ready = false;
    if (!ReceiveFrom(token, deliver, delivered)) continue;
    Peer& peer = *peers_by_token_.at(token);
    if (peer.connection.readable() || peer.connection.reader().HasFrame()) MarkReady(token, peer);
  }
  return delivered;
}

bool Network::ReceiveFrom(EventLoop::Token token, const Deliver& deliver, std::size_t& delivered) {
  Peer& peer = *peers_by_token_.at(token);
  FrameReader& reader = peer.connection.reader();
  if (!reader.HasFrame()) peer.connection.Read(options_.read_bytes_per_turn_max);
  for (std::size_t taken = 0; taken < options_.frames_per_turn_max; ++taken) {
    const auto frame = reader.Next();
    if (!frame) break;
    if (peer.state == State::kGreeting) {
      if (!TakeGreeting(token, peer, *frame)) return false;
    } else if (peer.outgoing) {
      CloseMalformed(token, "it sent a frame on a connection that only we may send on");
      return false;
    } else {
      counters_.frames_in.Add();
      if (!IsReplica(peer.id)) counters_.client_frames_in.Add();
      ++delivered;
      deliver(peer.id, *frame);
    }
  }
  if (reader.broken()) {
    CloseMalformed(token, peer.state == State::kGreeting
                              ? std::string("its first frame is not a greeting")
                              : "a frame of " + std::to_string(reader.NextLength()) +
                                    " bytes is above the limit");
    return false;
  }
  if (peer.connection.ended() && !reader.HasFrame()) {
    const int error = peer.connection.error();
    // The end of a client's connection needs no log line, nor does a replica that is out of
    // service.
    const bool is_open = peer.state == State::kOpen;
    const bool unexpected = error != 0 && is_open && IsReplica(peer.id);
    Close(token, unexpected ? std::strerror(error) : "");
    return false;
  }
  return true;
}

bool Network::TakeGreeting(EventLoop::Token token, Peer& peer, std::string_view frame) {
  const auto hello = DecodeHello(frame);
  if (!hello) {
    CloseMalformed(token, "its first frame is not a greeting");
    return false;
  }
  if (peer.outgoing) {
    if (hello->from != peer.id || hello->to != options_.self) {
      CloseMalformed(token, "it is replica " + std::to_string(hello->from));
      return false;
    }
    Link& link = links_[static_cast<std::size_t>(peer.id)];
    link.backoff = options_.reconnect_min;
    counters_.connected.Add();
    Outbox& outbox = replicas_[static_cast<std::size_t>(peer.id)];
    outbox.connection = token;
    MarkDirty(peer.id, outbox);
    if (on_link_) on_link_(peer.id, /*is_up=*/true);
  } else {
    const bool for_us = hello->to == options_.self || hello->to == kNobody;
    const bool known = hello->from == kNobody || hello->from >= kFirstClient ||
                       (IsReplica(hello->from) && hello->from != options_.self);
    if (!for_us || !known) {
      CloseMalformed(token, "replica or client " + std::to_string(hello->from) + " wants replica " +
                                std::to_string(hello->to) + ", but this is replica " +
                                std::to_string(options_.self) +
                                ": do the lists of replicas differ?");
      return false;
    }
    peer.id = hello->from == kNobody ? ++last_assigned_client_ : hello->from;
    WelcomePeer(token, peer);
  }
  Open(peer);
  return true;
}

void Network::Open(Peer& peer) {
  peer.state = State::kOpen;
  peer.greet_by = kNever;
  peer.connection.reader().set_frame_bytes_max(kMaxFrameBytes);
  --not_open_;
}

// An existing connection of the same peer is an old one whose end has not arrived yet. The new
// connection replaces it.
void Network::WelcomePeer(EventLoop::Token token, Peer& peer) {
  EventLoop::Token old = 0;
  if (IsReplica(peer.id)) {
    old = std::exchange(incoming_[static_cast<std::size_t>(peer.id)], token);
  } else if (const auto client = clients_.find(peer.id); client != clients_.end()) {
    old = client->second.connection;
  }
  if (old != 0) Close(old, "replaced by a new one");
  if (!IsReplica(peer.id)) clients_[peer.id].connection = token;
  peer.connection.set_writable();
  peer.connection.WriteGreeting(EncodeHello({options_.self, peer.id}));
}

std::string Network::NameOf(const Peer& peer) const {
  if (peer.id == kNobody) return "a stranger";
  return (IsReplica(peer.id) ? "replica " : "client ") + std::to_string(peer.id);
}

}  // namespace depfast::real
