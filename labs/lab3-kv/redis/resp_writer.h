// RespWriter: replies as bytes of Redis's protocol, in either of its versions.
//
// A client chooses the version with HELLO. RESP3 has a nil of its own, and maps and sets; RESP2
// writes nil as a string of length -1, and maps and sets as arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kv_messages.h"

namespace depfast::kv {

enum class Protocol : std::uint8_t { kResp2 = 2, kResp3 = 3 };

class RespWriter {
 public:
  explicit RespWriter(Protocol protocol) : protocol_(protocol) {}

  RespWriter& Nil() { return is_resp3() ? Line('_', "") : Line('$', "-1"); }
  // Requires: `line` has no end of line.
  RespWriter& Status(std::string_view line) { return Line('+', line); }
  RespWriter& Error(std::string_view line) { return Line('-', line); }
  RespWriter& Integer(std::int64_t value) { return Line(':', std::to_string(value)); }
  // A string of any bytes.
  RespWriter& Bulk(std::string_view bytes);
  // A string for people: RESP3 marks it as plain text.
  RespWriter& Text(std::string_view text);

  // The beginning of an aggregate. The caller then writes `count` items; of a map, `pairs` keys,
  // each with its value.
  RespWriter& Array(std::size_t count) { return Line('*', std::to_string(count)); }
  RespWriter& Map(std::size_t pairs);
  RespWriter& Set(std::size_t count);

  // A reply of the store.
  RespWriter& Append(const Reply& reply);

  // The bytes since the last call.
  std::string Take();

 private:
  bool is_resp3() const { return protocol_ == Protocol::kResp3; }
  RespWriter& Line(char kind, std::string_view text);

  const Protocol protocol_;
  std::string bytes_;
};

}  // namespace depfast::kv
