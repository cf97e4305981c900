// Records in a file, with checksums that tell a torn tail from damage.
//
// Layout of a record, integers little endian: length of the payload (4 bytes), checksum of the
// payload (4), checksum of these 8 bytes (4), payload. A checksum is the lower half of XXH3-64. The
// header has a checksum of its own, so that a damaged length is not taken for a torn record.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace depfast {

inline constexpr std::size_t kRecordHeaderBytes = 12;

namespace record_internal {
// The payload is all that follows the kRecordHeaderBytes from `at` on.
void FillHeader(std::string& out, std::size_t at);
}  // namespace record_internal

// Appends one record to `out`. `write` appends its payload there, so that nobody copies it.
template <typename Write>
void AppendRecord(std::string& out, const Write& write) {
  const std::size_t at = out.size();
  out.append(kRecordHeaderBytes, '\0');
  write();
  record_internal::FillHeader(out, at);
}

// Calls `visit` with each whole record's payload, in order. Returns the number of bytes up to the
// end of the last good record. The rest is torn, or damaged: see MayBeTorn.
std::size_t ReadRecords(std::string_view bytes, const std::function<void(std::string_view)>& visit);

// Whether a crash in the middle of a write can have left `rest`, the bytes after the records that
// ReadRecords returned. A crash can leave nothing, the first part of one record, one whole record
// with a wrong payload, or zeros. Then the owner of the file truncates it before it appends again.
// Everything else is damage, such as a bad record with others after it. Those may have been
// acknowledged and must not be cut off. Takes O(n).
//
// Cases that cannot be distinguished, and the result:
// - Damage to the payload of the last record, or zeros from some record on to the end, look like a
//   torn write: acknowledged records there are cut off.
// - A disk that loses power may keep a later part of its last write and not an earlier one. Two
//   records of such a write look damaged although neither was acknowledged. The simulator's disk,
//   and a killed process, leave the first bytes of a write and nothing after them.
[[nodiscard]] bool MayBeTorn(std::string_view rest);

}  // namespace depfast
