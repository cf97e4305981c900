// libFuzzer entry: for any bytes of a client, cut into any two packets, the conversation sends the
// same requests and the same output, and ends only where it must. Built with -DFAILSLOW_FUZZ=ON and
// clang.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "heard.h"

namespace {

using depfast::kv::Heard;

void Require(bool condition) {
  if (!condition) std::abort();
}

Heard Listen(std::string_view bytes, std::size_t first) {
  std::size_t size = first;
  const Heard heard = depfast::kv::Listen(bytes, [&] { return std::exchange(size, bytes.size()); });
  Require(heard.is_idle);
  Require(heard.output.empty() || heard.output.ends_with("\r\n"));
  return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t first = data[size - 1] % size;
  Require(Listen(bytes, first) == Listen(bytes, size));
  return 0;
}
