// EventLoop: epoll, and nothing else.
//
// Descriptors are watched edge-triggered unless asked otherwise: registered once, no system call
// per change of interest. Whoever gets an event therefore remembers "readable" or "writable" until
// the kernel says EAGAIN, which is what bounded, fair reading wants anyway.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "real/descriptor.h"

namespace depfast::real {

class EventLoop {
 public:
  // Names a watched descriptor. Chosen by the caller and never reused, so that an event that was
  // fetched before its descriptor was closed finds nobody instead of a stranger.
  using Token = std::uint64_t;

  EventLoop();

  // `events`: EPOLLIN and so on, with EPOLLET where wanted. Throws std::system_error.
  void Watch(int fd, std::uint32_t events, Token token);
  void Unwatch(int fd);

  // Waits for events; returns at once if `block` is false. The span is valid until the next call.
  // An interrupting signal is an empty span.
  std::span<const epoll_event> Wait(bool block);

 private:
  Descriptor epoll_;
  std::array<epoll_event, 128> events_;
};

}  // namespace depfast::real
