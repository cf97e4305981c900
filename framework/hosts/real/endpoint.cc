#include "real/endpoint.h"

#include <netdb.h>
#include <sys/socket.h>

#include <charconv>
#include <cstring>
#include <stdexcept>

namespace depfast::real {

std::string ToString(const Endpoint& endpoint) {
  return endpoint.host + ":" + std::to_string(endpoint.port);
}

Endpoint ParseEndpoint(std::string_view text) {
  const auto refuse = [&](const char* reason) -> Endpoint {
    throw std::invalid_argument("'" + std::string(text) + "' is not host:port: " + reason);
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse("there is no ':'");
  if (colon == 0) return refuse("the host is missing");
  const auto digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) {
    return refuse("the port is not a number from 1 to 65535");
  }
  return {std::string(text.substr(0, colon)), port};
}

std::vector<Endpoint> ParseEndpoints(std::string_view text) {
  std::vector<Endpoint> endpoints;
  while (true) {
    const auto comma = text.find(',');
    endpoints.push_back(ParseEndpoint(text.substr(0, comma)));
    if (comma == std::string_view::npos) return endpoints;
    text.remove_prefix(comma + 1);
  }
}

sockaddr_in Resolve(const Endpoint& endpoint) {
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    throw std::invalid_argument("cannot look up host '" + endpoint.host +
                                "': " + gai_strerror(error));
  }
  sockaddr_in address;
  std::memcpy(&address, found->ai_addr, sizeof address);
  freeaddrinfo(found);
  address.sin_port = htons(endpoint.port);
  return address;
}

Descriptor Listen(const Endpoint& endpoint) {
  const std::string what = "cannot listen on " + ToString(endpoint);
  const sockaddr_in address = Resolve(endpoint);
  auto socket = Checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), what);
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (bind(socket.get(), generic, sizeof address) != 0) ThrowErrno(what);
  if (listen(socket.get(), SOMAXCONN) != 0) ThrowErrno(what);
  return socket;
}

std::uint16_t PortOf(int fd) {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) ThrowErrno("getsockname");
  return ntohs(address.sin_port);
}

}  // namespace depfast::real
