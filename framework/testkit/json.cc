#include "testkit/json.h"

#include <array>
#include <cstdio>

namespace depfast::testkit {

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", byte);
      out += escaped.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string JsonObject(const std::map<std::string, std::int64_t>& numbers) {
  std::string members;
  for (const auto& [name, number] : numbers) {
    members += (members.empty() ? "" : ",") + JsonString(name) + ":" + std::to_string(number);
  }
  return "{" + members + "}";
}

}  // namespace depfast::testkit
