#include "faults/retransmission.h"

#include <algorithm>
#include <cstdint>

namespace depfast::faults {
namespace {

constexpr std::size_t kPacketBytes = 1448;  // of a frame, in an Ethernet packet with timestamps
constexpr Duration kTimeoutMin = 200ms;
constexpr Duration kTimeoutMax = 120s;
constexpr int kRetransmissionsMax = 15;

// The number of lost packets among `packets`.
std::size_t Lose(std::size_t packets, int permille, RandomStream& stream) {
  std::size_t lost = 0;
  for (std::size_t i = 0; i < packets; ++i) {
    if (stream.Below(1000) < static_cast<std::uint64_t>(permille)) ++lost;
  }
  return lost;
}

}  // namespace

Duration RetransmissionDelay(std::size_t bytes, int permille, RandomStream stream) {
  Duration delay{0};
  Duration timeout = kTimeoutMin;
  std::size_t missing = std::max<std::size_t>(1, (bytes + kPacketBytes - 1) / kPacketBytes);
  for (int attempt = 0; attempt < kRetransmissionsMax; ++attempt) {
    missing = Lose(missing, permille, stream);
    if (missing == 0) break;
    delay += timeout;
    timeout = std::min(2 * timeout, kTimeoutMax);
  }
  return delay;
}

}  // namespace depfast::faults
