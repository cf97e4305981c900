#include "sim/trace_text.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>

#include "depfast/host/codec.h"

namespace depfast::sim {
namespace {

constexpr std::size_t kBodyChars = 400;
constexpr std::size_t kStringChars = 48;

// Quoted, with bytes outside printable ASCII escaped.
void AppendString(std::string& out, std::string_view text) {
  const nlohmann::json json = std::string(text.substr(0, kStringChars));
  out += json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kStringChars) out += "... (" + std::to_string(text.size()) + " bytes)";
}

void AppendValue(std::string& out, const msgpack::object& value);

void AppendArray(std::string& out, const msgpack::object_array& array) {
  out += "[";
  for (std::uint32_t i = 0; i < array.size; ++i) {
    if (i > 0) out += ", ";
    if (out.size() > kBodyChars) {
      out += "... (" + std::to_string(array.size) + " in all)";
      break;
    }
    AppendValue(out, array.ptr[i]);
  }
  out += "]";
}

void AppendValue(std::string& out, const msgpack::object& value) {
  if (out.size() > kBodyChars) return;
  switch (value.type) {
    case msgpack::type::STR:
      AppendString(out, {value.via.str.ptr, value.via.str.size});
      break;
    case msgpack::type::BIN:
      AppendString(out, {value.via.bin.ptr, value.via.bin.size});
      break;
    case msgpack::type::ARRAY:
      AppendArray(out, value.via.array);
      break;
    default: {
      std::ostringstream text;
      text << value;
      out += text.str().substr(0, kBodyChars);
    }
  }
}

}  // namespace

const char* NameOf(FrameKind kind) {
  static constexpr const char* kNames[] = {"request", "reply", "error"};
  return kNames[static_cast<int>(kind)];
}

const char* NameOf(IoRequest::Kind kind) {
  static constexpr const char* kNames[] = {"append to", "read", "truncate", "rename", "remove"};
  return kNames[static_cast<int>(kind)];
}

std::string NameOf(const Dependency& dependency) {
  static constexpr const char* kNames[] = {"nobody", "client call ", "heartbeat "};
  const std::string name = kNames[static_cast<int>(dependency.kind)];
  return dependency.kind == Dependency::Kind::kNone ? name : name + std::to_string(dependency.id);
}

std::string DescribeBody(std::string_view body) {
  std::string error;
  const frame_internal::Unpacked value(body, error);
  if (!value) return "malformed body: " + error;
  std::string out;
  AppendValue(out, value.get());
  return out;
}

}  // namespace depfast::sim
