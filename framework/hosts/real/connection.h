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

  // Set by events of the event loop. Cleared when the kernel has no more bytes, or takes no more.
  void set_readable() { readable_ = true; }
  void set_writable() { writable_ = true; }
  bool readable() const { return readable_; }
  bool writable() const { return writable_; }

  // The other side closed the connection, or it failed. The reader still holds the bytes that were
  // read before.
  bool ended() const { return ended_; }
  // The errno that ended the connection; 0 for an orderly close.
  int error() const { return error_; }

  // Reads the bytes that have arrived, about `bytes_max` at most.
  void Read(std::size_t bytes_max);

  // Writes bytes of `queue` until the kernel takes no more: one system call if it takes all.
  // Returns the number of frames that are now wholly written. May end the connection; never blocks,
  // never raises SIGPIPE.
  std::size_t Write(SendQueue& queue, WriteScratch& scratch);

  // Writes the first bytes of a connection. An error ends the connection.
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

// Sets the options of every connection: no Nagle delay, little unsent data in the kernel, and an
// end when the other machine is gone. Data in the kernel could be neither counted as held nor
// released.
void ConfigureSocket(int fd);

}  // namespace depfast::real
