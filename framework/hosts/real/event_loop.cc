#include "real/event_loop.h"

namespace depfast::real {

EventLoop::EventLoop() : epoll_(Checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

void EventLoop::Watch(int fd, std::uint32_t events, Token token) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = token;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) ThrowErrno("epoll_ctl");
}

void EventLoop::Unwatch(int fd) {
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) != 0) ThrowErrno("epoll_ctl");
}

std::span<const epoll_event> EventLoop::Wait(bool block) {
  const int count =
      epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), block ? -1 : 0);
  if (count < 0 && errno != EINTR) ThrowErrno("epoll_wait");
  return {events_.data(), count < 0 ? 0 : static_cast<std::size_t>(count)};
}

}  // namespace depfast::real
