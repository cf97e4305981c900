// A protocol that is not ours, spoken by clients on a port of its own.
//
// The replica's code knows frames only. A Conversation stands between one client's connection and
// the replica: it turns the client's bytes into request frames, and the frames that the replica
// sends back into bytes. So the replica serves such a client like any other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/host/host.h"

namespace depfast::real {

class Conversation {
 public:
  virtual ~Conversation() = default;

  // The client has sent `bytes`. Whatever they are: what makes no sense is answered, not thrown.
  virtual void OnBytes(std::string_view bytes) = 0;

  // The replica has sent a frame to the client.
  virtual void OnFrame(std::string_view frame) = 0;

  // Frames for the replica, in order: what OnBytes and OnFrame have made possible since the last
  // call.
  virtual std::vector<std::string> TakeFrames() = 0;
  // TakeFrames would return something.
  virtual bool HasFrames() const = 0;

  // Bytes for the client, likewise.
  virtual std::string TakeOutput() = 0;

  // False while as much is under way as this client may have: its bytes stay in the kernel.
  virtual bool WantsBytes() const = 0;

  // The client has no answer to expect that is not in the output.
  virtual bool IsIdle() const = 0;

  // The conversation has ended: the connection is closed once the output is written. Then OnBytes
  // is not called any more.
  virtual bool IsOver() const = 0;
};

// What a conversation may say about its replica.
struct ForeignContext {
  PeerId replica = 0;
  std::uint16_t port = 0;  // that the client has reached
};

// A protocol, by a name that flags of programs can carry: "redis".
struct ForeignProtocol {
  std::string name;
  std::function<std::unique_ptr<Conversation>(const ForeignContext&)> make_conversation;
};

}  // namespace depfast::real
