// Connection: one non-blocking stream socket that carries frames.
#pragma once

#include <cstddef>

#include "real/counters.h"
#include "real/descriptor.h"
#include "real/frame_reader.h"
#include "real/send_queue.h"

namespace depfast::real {

class Connection {
 public:
  // Takes over a connected, non-blocking socket. The first frame may only be a greeting.
  Connection(Descriptor socket, NetworkCounters& counters);

  int fd() const { return socket_.get(); }

  // What the event loop said. Both stay set until the kernel has nothing more to give or take.
  void set_readable() { readable_ = true; }
  void set_writable() { writable_ = true; }
  bool readable() const { return readable_; }
  bool writable() const { return writable_; }

  // The other side closed, or an error: what was read before can still be taken from the reader.
  bool ended() const { return ended_; }
  // Why, an errno; 0 for an orderly close.
  int error() const { return error_; }

  // Reads what has arrived, about `bytes_max` at most.
  void Read(std::size_t bytes_max);

  // Writes from `queue` what the kernel takes: one system call if that is all of it. Returns how
  // many frames are now wholly written. May end the connection; never blocks, never raises SIGPIPE.
  std::size_t Write(SendQueue& queue, WriteScratch& scratch);

  // Writes a few bytes to a connection that nothing was written to. An error ends it.
  void WriteGreeting(std::string_view bytes);

  FrameReader& reader() { return reader_; }
  const FrameReader& reader() const { return reader_; }

 private:
  void End(int error);

  Descriptor socket_;
  NetworkCounters* counters_;  // never null: a pointer, so that connections can be assigned
  FrameReader reader_{kHelloBytes};
  bool readable_ = false;
  bool writable_ = false;
  bool ended_ = false;
  int error_ = 0;
};

// Sets what every connection of ours wants: no Nagle delay, little unsent data in the kernel, where
// it could neither be counted as held nor released, and an end when the other machine is gone.
void ConfigureSocket(int fd);

}  // namespace depfast::real
