#include "depfast/record_log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <optional>

namespace depfast {
namespace {

void PutLittleEndian(std::uint64_t value, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

std::uint64_t GetLittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<std::uint8_t>(bytes[i - 1]);
  }
  return value;
}

std::uint64_t Checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size()) & 0xffff'ffff;
}

struct Header {
  std::uint64_t length;
  std::uint64_t checksum;  // of the payload
};

// Nothing if `bytes` do not begin with a whole header.
std::optional<Header> ReadHeader(std::string_view bytes) {
  if (bytes.size() < kRecordHeaderBytes) return std::nullopt;
  if (Checksum(bytes.substr(0, 8)) != GetLittleEndian(bytes.substr(8, 4))) return std::nullopt;
  return Header{GetLittleEndian(bytes.substr(0, 4)), GetLittleEndian(bytes.substr(4, 4))};
}

}  // namespace

void record_internal::FillHeader(std::string& out, std::size_t at) {
  const auto payload = std::string_view(out).substr(at + kRecordHeaderBytes);
  std::string header;
  PutLittleEndian(payload.size(), 4, header);
  PutLittleEndian(Checksum(payload), 4, header);
  PutLittleEndian(Checksum(header), 4, header);
  out.replace(at, kRecordHeaderBytes, header);
}

std::size_t ReadRecords(std::string_view bytes,
                        const std::function<void(std::string_view)>& visit) {
  std::size_t at = 0;
  while (const auto header = ReadHeader(bytes.substr(at))) {
    const auto behind = bytes.substr(at + kRecordHeaderBytes);
    const auto payload = behind.substr(0, header->length);
    if (payload.size() < header->length || Checksum(payload) != header->checksum) break;
    visit(payload);
    at += kRecordHeaderBytes + payload.size();
  }
  return at;
}

bool MayBeTorn(std::string_view rest) {
  if (rest.size() < kRecordHeaderBytes) return true;
  if (rest.find_first_not_of('\0') == std::string_view::npos) return true;
  const auto header = ReadHeader(rest);
  return header && header->length >= rest.size() - kRecordHeaderBytes;
}

}  // namespace depfast
