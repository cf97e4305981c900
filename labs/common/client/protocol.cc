#include "protocol.h"

namespace depfast::load {

// A function's own variable: registrations run before main, in any order.
std::map<std::string, Ask>& Asks() {
  static std::map<std::string, Ask> asks;
  return asks;
}

std::map<std::string, Connect>& Connects() {
  static std::map<std::string, Connect> connects;
  return connects;
}

}  // namespace depfast::load
