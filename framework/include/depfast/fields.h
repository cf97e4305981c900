// DEPFAST_FIELDS(a, b...): names the members of a struct that are its value on the wire and on
// disk.
//
// A message, and each struct in one, has this line. The value is the array of the fields, in their
// order. The code that encodes it is in depfast/host/codec.h.
#pragma once

#include <tuple>

namespace depfast {

// A struct with DEPFAST_FIELDS, or one that extends such a struct.
template <typename T>
concept HasFields = requires(T& value) { value.fields(); };

}  // namespace depfast

#define DEPFAST_FIELDS(...)                       \
  auto fields() { return std::tie(__VA_ARGS__); } \
  auto fields() const { return std::tie(__VA_ARGS__); }
