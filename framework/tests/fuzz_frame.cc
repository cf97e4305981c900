// libFuzzer entry: for any bytes, the decoder refuses with a reason or returns a frame that encodes
// to itself. Built with -DFAILSLOW_FUZZ=ON and clang.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/host/codec.h"

namespace {

struct Entry {
  std::uint64_t term = 0;
  std::string command;
  DEPFAST_FIELDS(term, command)
};
struct Body {
  std::int64_t number = 0;
  bool flag = false;
  std::vector<Entry> entries;
  std::map<std::string, std::vector<int>> extra;
  DEPFAST_FIELDS(number, flag, entries, extra)
};

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string error;
  const auto frame = depfast::DecodeFrame(bytes, error);
  Require(frame.has_value() == error.empty());
  if (!frame) return 0;

  std::string again;
  depfast::frame_internal::EncodeHeader(frame->header, again);
  again.append(frame->body);
  Require(again.size() <= size);
  const auto twice = depfast::DecodeFrame(again, error);
  Require(twice && twice->body == frame->body && twice->header.call == frame->header.call);

  const auto body = depfast::DecodeBody<Body>(frame->body, error);
  Require(body.has_value() == error.empty());
  if (body) {
    const std::string encoded = depfast::EncodeFrame(frame->header, *body);
    std::string no_error;
    const auto reread = depfast::DecodeFrame(encoded, no_error);
    Require(reread && depfast::DecodeBody<Body>(reread->body, no_error));
  }
  return 0;
}
