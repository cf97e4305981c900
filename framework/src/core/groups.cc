#include "depfast/host/groups.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace depfast {

Groups::Groups(int replicas, const std::vector<int>& sizes) : first_{0} {
  for (const int size : sizes) {
    if (size < 1) throw std::invalid_argument("a group has a replica at least");
    first_.push_back(first_.back() + size);
  }
  if (sizes.empty()) first_.push_back(replicas);
  if (first_.back() != replicas || replicas < 1 || replicas >= kOtherGroups) {
    throw std::invalid_argument("groups of " + std::to_string(first_.back()) +
                                " replicas in a cluster of " + std::to_string(replicas));
  }
}

int Groups::GroupOf(PeerId address) const {
  const auto next = std::upper_bound(first_.begin(), first_.end(), address);
  return static_cast<int>(next - first_.begin()) - 1;
}

PeerId Groups::IdIn(int group, PeerId address) const {
  if (count() == 1 || address < 0 || address >= kFirstClient) return address;
  const bool is_member = address >= First(group) && address < End(group);
  return is_member ? address - First(group) : kOtherGroups + address;
}

PeerId Groups::AddressIn(int group, PeerId id) const {
  if (count() == 1 || id < 0 || id >= kFirstClient) return id;
  if (id < size(group)) return First(group) + id;
  const PeerId address = id - kOtherGroups;
  const bool is_other = address >= 0 && address < replicas() && GroupOf(address) != group;
  return is_other ? address : kNoAddress;
}

}  // namespace depfast
