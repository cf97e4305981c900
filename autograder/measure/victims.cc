#include "victims.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace depfast::measure {
namespace {

template <typename T>
bool Contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// By place, from 0.
std::vector<PeerId> Followers(const std::vector<PeerId>& proposers, int replicas) {
  std::vector<PeerId> followers;
  for (int i = 1; i < replicas; ++i) {
    const PeerId id = (proposers.front() + i) % replicas;
    if (!Contains(proposers, id)) followers.push_back(id);
  }
  return followers;
}

std::vector<PeerId> AtPlaces(const std::vector<int>& places, const std::vector<PeerId>& followers) {
  std::vector<PeerId> slow;
  for (const int place : places) {
    if (place < 1 || place > static_cast<int>(followers.size())) {
      throw std::invalid_argument("no replica has the place " + std::to_string(place));
    }
    const PeerId id = followers[static_cast<std::size_t>(place - 1)];
    if (Contains(slow, id)) {
      throw std::invalid_argument("the place " + std::to_string(place) + " stands twice");
    }
    slow.push_back(id);
  }
  return slow;
}

std::size_t MinorityOf(int replicas) { return static_cast<std::size_t>((replicas - 1) / 2); }

void RefuseMoreThanAMinority(std::size_t slow, int replicas) {
  if (slow > MinorityOf(replicas)) {
    throw std::invalid_argument("more slow replicas than a minority");
  }
}

}  // namespace

std::vector<PeerId> FollowersAt(const std::vector<int>& places,
                                const std::vector<PeerId>& proposers, int replicas) {
  const std::vector<PeerId> followers = Followers(proposers, replicas);
  if (places.empty()) {
    const std::size_t count = std::min(MinorityOf(replicas), followers.size());
    return {followers.begin(), followers.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  RefuseMoreThanAMinority(places.size(), replicas);
  return AtPlaces(places, followers);
}

PeerId ProposerOf(const std::vector<std::string>& roles, const std::string& victim,
                  const std::vector<PeerId>& proposers) {
  const auto role = std::find(roles.begin(), roles.end(), victim);
  const auto place = static_cast<std::size_t>(role - roles.begin());
  if (place + 1 >= roles.size() || place >= proposers.size()) {
    throw std::invalid_argument("no proposer has the role '" + victim + "'");
  }
  return proposers[place];
}

std::vector<PeerId> ProposerAndFollowers(const std::vector<std::string>& roles,
                                         const std::string& victim, const std::vector<int>& places,
                                         const std::vector<PeerId>& proposers, int replicas) {
  RefuseMoreThanAMinority(1 + places.size(), replicas);
  std::vector<PeerId> slow = AtPlaces(places, Followers(proposers, replicas));
  slow.insert(slow.begin(), ProposerOf(roles, victim, proposers));
  return slow;
}

}  // namespace depfast::measure
