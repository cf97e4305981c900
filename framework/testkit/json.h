#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace depfast::testkit {

// `text` as a JSON string with quotes. Bytes that are not printable ASCII are escaped, so the
// result is valid for any bytes.
std::string JsonString(std::string_view text);

// {"first":1,"second":2}, in the order of the names.
std::string JsonObject(const std::map<std::string, std::int64_t>& numbers);

}  // namespace depfast::testkit
