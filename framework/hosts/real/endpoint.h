// Endpoint: the address on which a replica listens.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "real/descriptor.h"

namespace depfast::real {

struct Endpoint {
  std::string host;  // a name or an address
  std::uint16_t port = 0;
};

std::string ToString(const Endpoint& endpoint);

// Parses "host:port". Throws std::invalid_argument with a one-line reason.
Endpoint ParseEndpoint(std::string_view text);

// Parses "host:port,host:port,...". Same errors.
std::vector<Endpoint> ParseEndpoints(std::string_view text);

// Looks up the host name (IPv4), which may block. Throws std::system_error or
// std::invalid_argument.
sockaddr_in Resolve(const Endpoint& endpoint);

// A non-blocking socket listening on the endpoint. Throws std::system_error.
Descriptor Listen(const Endpoint& endpoint);

// The port a socket is bound to.
std::uint16_t PortOf(int fd);

}  // namespace depfast::real
