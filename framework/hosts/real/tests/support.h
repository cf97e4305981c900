// Helpers of the real host's tests. No test sleeps: it waits for a condition, with a deadline that
// only a failure reaches.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>

#include "real/descriptor.h"
#include "real/endpoint.h"

namespace depfast::real {

inline constexpr std::chrono::seconds kPatience{30};

// Checks `condition` until it holds. Returns whether it held within kPatience.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

class TempDir {
 public:
  explicit TempDir(const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
    std::string pattern = (in / "real-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) ThrowErrno("mkdtemp");
    path_ = pattern;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Two connected non-blocking stream sockets.
inline std::pair<Descriptor, Descriptor> SocketPair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) {
    ThrowErrno("socketpair");
  }
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

// A listening socket on a free port of the loopback, and its address.
inline std::pair<Descriptor, Endpoint> ListenAnywhere() {
  Descriptor listener = Listen({"127.0.0.1", 0});
  const std::uint16_t port = PortOf(listener.get());
  return {std::move(listener), Endpoint{"127.0.0.1", port}};
}

// A socket that is connected to `endpoint`, and has said nothing.
inline Descriptor ConnectTo(const Endpoint& endpoint) {
  Descriptor socket = Checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  const sockaddr_in address = Resolve(endpoint);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (connect(socket.get(), generic, sizeof address) != 0) ThrowErrno("connect");
  return socket;
}

inline void SendText(const Descriptor& socket, const std::string& text) {
  ASSERT_EQ(send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

}  // namespace depfast::real
