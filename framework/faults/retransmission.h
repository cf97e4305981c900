// Packet loss as TCP shows it: no frame is lost, and a frame of which a packet was lost is late.
#pragma once

#include <cstddef>

#include "depfast/host/random.h"
#include "depfast/time.h"

namespace depfast::faults {

// The time that retransmissions add to a frame of `bytes` on a network that loses `permille` of all
// packets, each independently. Lost packets are sent again after a timeout of 200 ms, which doubles
// with every attempt up to 120 s (RFC 6298, with the bounds of Linux). Fast retransmission is left
// out: requests and answers are short, so few packets follow a lost one.
// The fifteenth retransmission arrives (Linux gives the connection up instead): time is bounded.
Duration RetransmissionDelay(std::size_t bytes, int permille, RandomStream stream);

}  // namespace depfast::faults
