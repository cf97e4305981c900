// Groups: the division of a cluster's replicas into groups, each with a service of its own.
//
// A replica has two numbers. Its address counts all replicas of the cluster, group after group:
// hosts, faults and reports use it. Its id counts the members of its group, 0 .. n-1, so that one
// program runs in any group: a Runtime uses it. In a cluster of one group both are the same.
#pragma once

#include <cstddef>
#include <vector>

#include "depfast/peer.h"

namespace depfast {

class Groups {
 public:
  // One group of `replicas`. Requires: replicas >= 1.
  explicit Groups(int replicas) : Groups(replicas, {}) {}

  // One group for each size; of no size, one group of all. Throws std::invalid_argument unless
  // every size is positive, their sum is `replicas`, and that is below kOtherGroups.
  Groups(int replicas, const std::vector<int>& sizes);

  int count() const { return static_cast<int>(first_.size()) - 1; }
  int replicas() const { return first_.back(); }
  // Requires of a group, here and below: it is one of 0 .. count() - 1.
  int size(int group) const { return End(group) - First(group); }

  // Requires: `address` is a replica's.
  int GroupOf(PeerId address) const;
  // Requires: 0 <= member < size(group).
  PeerId AddressOf(int group, PeerId member) const { return First(group) + member; }

  // The id by which the replicas of `group` name the node at `address`. A client's is its address,
  // and so is kNobody.
  PeerId IdIn(int group, PeerId address) const;
  // The inverse. An id that names nobody has the address kNoAddress.
  PeerId AddressIn(int group, PeerId id) const;

  static constexpr PeerId kNoAddress = kFirstClient - 1;

 private:
  PeerId First(int group) const { return first_[static_cast<std::size_t>(group)]; }
  PeerId End(int group) const { return first_[static_cast<std::size_t>(group) + 1]; }

  std::vector<PeerId> first_;  // by group: the address of its first member; last, their number
};

}  // namespace depfast
