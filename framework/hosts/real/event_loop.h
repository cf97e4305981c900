// EventLoop: a thin wrapper of epoll.
//
// Most descriptors are watched edge-triggered: registered once, without a system call per change of
// interest. The owner of a descriptor therefore remembers "readable" or "writable" until a system
// call returns EAGAIN. Bounded, fair reading needs this state anyway.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "real/descriptor.h"

namespace depfast::real {

class EventLoop {
 public:
  // Names a watched descriptor. Chosen by the caller and never reused: an event that was fetched
  // before its descriptor was closed must not reach a newer descriptor.
  using Token = std::uint64_t;

  EventLoop();

  // `events`: EPOLLIN and so on, with EPOLLET where wanted. Throws std::system_error.
  void Watch(int fd, std::uint32_t events, Token token);
  void Unwatch(int fd);

  // Waits for events; returns at once if `block` is false. The span is valid until the next call.
  // It is empty after an interrupting signal.
  std::span<const epoll_event> Wait(bool block);

 private:
  Descriptor epoll_;
  std::array<epoll_event, 128> events_;
};

}  // namespace depfast::real
