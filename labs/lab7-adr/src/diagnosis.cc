#include "diagnosis.h"

namespace depfast::adr {

// Both functions are stubs. Our lines: 90.

// TODO 7C
Suspicion Diagnose(PeerId self, const Levels& own, std::span<const PeerReport> peers,
                   int replicas) {
  (void)self, (void)own, (void)peers, (void)replicas;
  return {};
}

// TODO 7E
bool SendsClientsAway(const Suspicion& suspicion, std::optional<Duration> since_named,
                      std::span<const PeerReport> peers, int replicas) {
  (void)suspicion, (void)since_named, (void)peers, (void)replicas;
  return false;
}

}  // namespace depfast::adr
