// The names of replicas and entries in the checkers' sentences.
#pragma once

#include <cstdint>
#include <string>

#include "depfast/peer.h"

namespace depfast {

inline std::string Name(PeerId replica) { return "replica " + std::to_string(replica); }

inline std::string At(std::uint64_t index, std::uint64_t term) {
  return "index " + std::to_string(index) + " of term " + std::to_string(term);
}

}  // namespace depfast
