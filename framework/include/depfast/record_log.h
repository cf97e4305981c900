// Records in a file, each with its length and a checksum, so that a torn tail can be told apart.
//
// Layout of a record: length (4 bytes, little endian), XXH3-64 of the payload (8 bytes, little
// endian), payload. A crash can leave a prefix of the last record: reading stops before it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace depfast {

inline constexpr std::size_t kRecordHeaderBytes = 12;

// Appends one framed record to `out`.
void AppendRecord(std::string_view payload, std::string& out);

// Calls `visit` with each whole record's payload, in order. Returns the number of bytes up to the
// end of the last good record: less than bytes.size() means a torn or damaged tail, which the
// owner of the file truncates before it appends again.
std::size_t ReadRecords(std::string_view bytes, const std::function<void(std::string_view)>& visit);

}  // namespace depfast
