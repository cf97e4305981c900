#include "victims.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace depfast::measure {
namespace {

// The largest minority of the replicas that propose nothing.
std::vector<PeerId> Followers(const std::vector<PeerId>& proposers, int replicas) {
  const auto minority = static_cast<std::size_t>((replicas - 1) / 2);
  std::vector<PeerId> followers;
  for (int i = 1; i < replicas && followers.size() < minority; ++i) {
    const PeerId id = (proposers.front() + i) % replicas;
    const bool proposes = std::find(proposers.begin(), proposers.end(), id) != proposers.end();
    if (!proposes) followers.push_back(id);
  }
  return followers;
}

}  // namespace

std::vector<PeerId> VictimsOf(const std::vector<std::string>& roles, const std::string& victim,
                              const std::vector<PeerId>& proposers, int replicas) {
  if (victim.empty() || victim == roles.back()) return Followers(proposers, replicas);
  const auto role = std::find(roles.begin(), roles.end(), victim);
  const auto place = static_cast<std::size_t>(role - roles.begin());
  if (role == roles.end() || place >= proposers.size()) {
    throw std::invalid_argument("no replica has the role '" + victim + "'");
  }
  return {proposers[place]};
}

}  // namespace depfast::measure
