// Addresses: replicas and clients by number. A node's index counts replicas first, then clients in
// the order in which they were added. Replicas address nodes by PeerId.
#pragma once

#include <cstddef>

#include "depfast/host/host.h"

namespace depfast::sim {

class Addresses {
 public:
  explicit Addresses(int replicas)
      : replicas_(static_cast<std::size_t>(replicas)), nodes_(replicas_) {}

  std::size_t replicas() const { return replicas_; }
  std::size_t nodes() const { return nodes_; }

  // Returns the client's index.
  std::size_t AddClient() { return nodes_++; }

  bool IsReplica(std::size_t index) const { return index < replicas_; }

  // A replica may address any number, by mistake or not. An id that is neither a replica's nor a
  // client's has an index of nodes() or more.
  std::size_t IndexOf(PeerId id) const {
    if (id >= kFirstClient) return replicas_ + static_cast<std::size_t>(id - kFirstClient);
    return id >= 0 && static_cast<std::size_t>(id) < replicas_ ? static_cast<std::size_t>(id)
                                                               : nodes_;
  }

  PeerId IdOf(std::size_t index) const {
    const auto id = static_cast<PeerId>(index);
    return IsReplica(index) ? id : kFirstClient + id - static_cast<PeerId>(replicas_);
  }

 private:
  std::size_t replicas_;
  std::size_t nodes_;
};

}  // namespace depfast::sim
