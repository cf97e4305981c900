#include "real/wire.h"

namespace depfast::real {
namespace {

constexpr std::string_view kMagic = "FSL1";

}  // namespace

std::array<char, kLengthBytes> EncodeLength(std::size_t length) {
  std::array<char, kLengthBytes> bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes[i] = static_cast<char>(length >> (8 * i) & 0xff);
  }
  return bytes;
}

std::uint32_t DecodeLength(const char* bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = kLengthBytes; i > 0; --i) {
    length = length << 8 | static_cast<std::uint8_t>(bytes[i - 1]);
  }
  return length;
}

std::string EncodeHello(const Hello& hello) {
  std::string bytes;
  const auto put = [&](std::size_t value) {
    const auto encoded = EncodeLength(value);
    bytes.append(encoded.data(), encoded.size());
  };
  put(kHelloBytes);
  bytes += kMagic;
  put(static_cast<std::uint32_t>(hello.from));
  put(static_cast<std::uint32_t>(hello.to));
  return bytes;
}

std::optional<Hello> DecodeHello(std::string_view frame) {
  if (frame.size() != kHelloBytes || !frame.starts_with(kMagic)) return std::nullopt;
  return Hello{static_cast<PeerId>(DecodeLength(frame.data() + kMagic.size())),
               static_cast<PeerId>(DecodeLength(frame.data() + kMagic.size() + sizeof(PeerId)))};
}

}  // namespace depfast::real
