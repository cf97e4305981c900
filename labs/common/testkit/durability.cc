#include "durability.h"

#include <bit>

namespace depfast {
namespace {

std::string WhyNoMajority(std::uint64_t set, int replicas, const char* holds) {
  const int count = std::popcount(set);
  if (count > replicas / 2) return "";
  return std::string(holds) + " only " + std::to_string(count) + " of " + std::to_string(replicas) +
         " replicas";
}

}  // namespace

std::string OnDisks::WhyNot(const Holders& holders, int replicas) const {
  return WhyNoMajority(holders.synced, replicas, "is on the disks of");
}

std::string InMemory::WhyNot(const Holders& holders, int replicas) const {
  return WhyNoMajority(holders.received, replicas, "has reached");
}

}  // namespace depfast
