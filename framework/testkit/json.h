#pragma once

#include <string>
#include <string_view>

namespace depfast::testkit {

// `text` as a JSON string with quotes. Bytes that are not printable ASCII are escaped, so the
// result is valid for any bytes.
std::string JsonString(std::string_view text);

}  // namespace depfast::testkit
