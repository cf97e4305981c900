#include "depfast/record_log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>

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

}  // namespace

void AppendRecord(std::string_view payload, std::string& out) {
  PutLittleEndian(payload.size(), 4, out);
  PutLittleEndian(XXH3_64bits(payload.data(), payload.size()), 8, out);
  out.append(payload);
}

std::size_t ReadRecords(std::string_view bytes,
                        const std::function<void(std::string_view)>& visit) {
  std::size_t at = 0;
  while (bytes.size() - at >= kRecordHeaderBytes) {
    const std::uint64_t length = GetLittleEndian(bytes.substr(at, 4));
    if (length > bytes.size() - at - kRecordHeaderBytes) break;
    const auto payload = bytes.substr(at + kRecordHeaderBytes, length);
    const std::uint64_t checksum = GetLittleEndian(bytes.substr(at + 4, 8));
    if (XXH3_64bits(payload.data(), payload.size()) != checksum) break;
    visit(payload);
    at += kRecordHeaderBytes + payload.size();
  }
  return at;
}

}  // namespace depfast
