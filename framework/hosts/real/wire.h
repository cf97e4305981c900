// The bytes on a TCP connection.
//
// A frame is its length (4 bytes, little endian) and as many bytes; at most kMaxFrameBytes. The
// first frame each way is a greeting of 12 bytes: "FSL1", who speaks, whom it takes the other side
// for (two PeerIds, little endian). Whoever connects speaks first, and is answered only if it
// reached whom it meant: a mistake in a list of addresses shows as a log line, not as a strange
// election.
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

// Clients that ask for an id get one from here on; those that bring their own stay below.
inline constexpr PeerId kFirstAssignedClient = 1 << 30;

struct Hello {
  PeerId from = kNobody;  // kNobody: a client that asks for an id
  PeerId to = kNobody;    // kNobody: any replica
};

std::array<char, kLengthBytes> EncodeLength(std::size_t length);
std::uint32_t DecodeLength(const char* bytes);

// The greeting as a whole frame, length included.
std::string EncodeHello(const Hello& hello);

// `frame`: without its length. Nothing if it is not a greeting.
std::optional<Hello> DecodeHello(std::string_view frame);

}  // namespace depfast::real
