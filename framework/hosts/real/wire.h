// The bytes on a TCP connection.
//
// A frame on the wire is a length in bytes (4 bytes, little endian) and those bytes, at most
// kMaxFrameBytes. The first frame each way is a greeting of 12 bytes: "FSL1", the sender's id and
// the expected id of the other side (two PeerIds, little endian). The connecting side greets first.
// It is answered only if it reached the replica that it expected. So a mistake in a list of
// addresses shows as a log line, not as a strange election.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "depfast/host/host.h"

namespace depfast::real {

inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kHelloBytes = 12;

// Assigned client ids begin here. Ids that clients choose themselves are below.
inline constexpr PeerId kFirstAssignedClient = 1 << 30;

struct Hello {
  PeerId from = kNobody;  // kNobody: a client that asks for an id
  PeerId to = kNobody;    // kNobody: any replica
};

std::array<char, kLengthBytes> EncodeLength(std::size_t length);
std::uint32_t DecodeLength(const char* bytes);

// The greeting as a whole frame, length included.
std::string EncodeHello(const Hello& hello);

// `frame` excludes the length. Returns nothing if `frame` is not a greeting.
std::optional<Hello> DecodeHello(std::string_view frame);

}  // namespace depfast::real
