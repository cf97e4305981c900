// Client: a small blocking connection to one replica, for tests and tools.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "depfast/host/host.h"
#include "real/descriptor.h"
#include "real/endpoint.h"
#include "real/frame_reader.h"
#include "real/wire.h"

namespace depfast::real {

class Client {
 public:
  // Connects and greets. `id` identifies the client at the replica; kNobody asks the replica for a
  // fresh id. A second connection with the same id replaces the first. Throws std::system_error if
  // there is no connection within `timeout`.
  explicit Client(const Endpoint& replica, PeerId id = kNobody, Duration timeout = 5s);

  PeerId id() const { return id_; }
  PeerId replica() const { return replica_; }
  int fd() const { return socket_.get(); }

  // Sends one frame, waiting if the socket is full. Throws std::system_error if the connection is
  // gone, or takes nothing for `timeout`.
  void Send(std::string_view frame, Duration timeout = 5s);

  // Sends raw bytes, without a length prefix: for tests of malformed input.
  void SendRaw(std::string_view bytes, Duration timeout = 5s);

  // The next frame, or nothing if none comes within `timeout`. Throws std::system_error if the
  // connection is gone, with ECONNRESET if the replica closed it.
  std::optional<std::string> Receive(Duration timeout);

 private:
  Descriptor socket_;
  FrameReader reader_{kMaxFrameBytes};
  PeerId id_ = kNobody;
  PeerId replica_ = kNobody;
};

}  // namespace depfast::real
