#include "protocol.h"

namespace depfast::load {
namespace {

// A function's own variable: registrations run before main, in any order.
std::map<std::string, Protocol>& Registered() {
  static std::map<std::string, Protocol> protocols;
  return protocols;
}

}  // namespace

const std::map<std::string, Protocol>& Protocols() { return Registered(); }

bool RegisterProtocol(const std::string& name, const Protocol& protocol) {
  return Registered().emplace(name, protocol).second;
}

}  // namespace depfast::load
