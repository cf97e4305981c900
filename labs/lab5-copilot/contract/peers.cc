#include "peers.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "depfast/compound_event.h"

namespace depfast::copilot {
namespace {

// A peer with more bytes than this in our queue gets no more of them. What a peer has not taken
// after kStragglerGrace is dropped.
constexpr std::size_t kHeldBytesMax = std::size_t{256} << 10;
constexpr Duration kStragglerGrace = 100ms;

}  // namespace

std::vector<PeerId> PeersInReach(Runtime& runtime) {
  std::vector<PeerId> peers;
  for (const PeerId peer : runtime.peers()) {
    if (runtime.HeldBytes(peer) <= kHeldBytesMax) peers.push_back(peer);
  }
  return peers;
}

// A slow peer's calls must not stay in our memory. These waits delay nobody.
void ReleaseLater(Runtime& runtime, BroadcastCalls calls) {
  runtime.Spawn("release", [&runtime, calls = std::move(calls)]() mutable {
    runtime.set_dependency({});  // no client's
    const auto everybody = std::make_shared<AndEvent>();
    for (const auto& call : calls.all()) everybody->Add(call);
    everybody->Wait(kStragglerGrace);
    calls.Release();
  });
}

}  // namespace depfast::copilot
