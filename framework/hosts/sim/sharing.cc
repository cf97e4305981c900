#include "sim/sharing.h"

#include <cassert>
#include <numeric>

namespace depfast::sim {

std::vector<std::size_t> NumberGroups(const std::vector<std::vector<PeerId>>& groups,
                                      std::size_t replicas) {
  std::vector<std::size_t> numbers(replicas);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::size_t next = replicas;
  for (const std::vector<PeerId>& group : groups) {
    if (group.size() < 2) continue;  // its replica shares with nobody
    for (const PeerId replica : group) {
      assert(replica >= 0 && static_cast<std::size_t>(replica) < replicas &&
             "a group is of replicas");
      std::size_t& number = numbers[static_cast<std::size_t>(replica)];
      assert(number < replicas && "a replica is in one group");
      number = next;
    }
    ++next;
  }
  return numbers;
}

}  // namespace depfast::sim
