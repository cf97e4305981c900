#include "depfast/wait_description.h"

#include <algorithm>

namespace depfast {

const char* ToString(Vote vote) {
  switch (vote) {
    case Vote::kPending:
      return "pending";
    case Vote::kLost:
      return "lost";
    case Vote::kNo:
      return "no";
    case Vote::kYes:
      return "yes";
  }
  return "?";
}

void WaitDescription::Include(PeerId peer, Vote vote) {
  const auto place = std::lower_bound(peers.begin(), peers.end(), peer,
                                      [](const Peer& known, PeerId id) { return known.id < id; });
  if (place != peers.end() && place->id == peer) {
    place->vote = std::min(place->vote, vote);
  } else {
    peers.insert(place, {peer, vote});
  }
}

void WaitDescription::Include(const WaitDescription& child) {
  for (const Peer& peer : child.peers) Include(peer.id, peer.vote);
}

void WaitDescription::Include(const WaitDescription& child, Vote vote) {
  if (child.peers.size() == 1) {
    Include(child.peers.front().id, vote);
  } else {
    Include(child);
  }
}

std::string DescribePeers(const WaitDescription& wait) {
  std::string out;
  for (const WaitDescription::Peer& peer : wait.peers) {
    out += (out.empty() ? "" : ", ") + std::to_string(peer.id) + " " + ToString(peer.vote);
  }
  return out;
}

}  // namespace depfast
