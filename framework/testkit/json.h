#pragma once

#include <string>
#include <string_view>

namespace depfast::testkit {

// `text` as a JSON string, quotes included. Bytes that are not printable ASCII are escaped, so the
// result is valid whatever the bytes are.
std::string JsonString(std::string_view text);

}  // namespace depfast::testkit
