// GroupHost: the host of a replica that is in one of several groups. Translates the replica's ids
// to addresses.
#pragma once

#include <cstddef>
#include <utility>

#include "depfast/host/groups.h"
#include "depfast/host/host.h"

namespace depfast {

class GroupHost final : public Host {
 public:
  // `host` and `groups` outlive this.
  GroupHost(Host& host, const Groups& groups, int group)
      : host_(host), groups_(groups), group_(group) {}

  Time Now() override { return host_.Now(); }
  std::uint64_t Random() override { return host_.Random(); }
  FrameId Send(PeerId peer, Bytes frame) override {
    return host_.Send(AddressOf(peer), std::move(frame));
  }
  void Release(PeerId peer, FrameId frame) override { host_.Release(AddressOf(peer), frame); }
  std::size_t HeldBytes(PeerId peer) override { return host_.HeldBytes(AddressOf(peer)); }
  void Submit(IoRequest request) override { host_.Submit(std::move(request)); }
  void WakeAt(Time when) override { host_.WakeAt(when); }
  void Observe(const Observation& observation) override { host_.Observe(observation); }

 private:
  PeerId AddressOf(PeerId peer) const { return groups_.AddressIn(group_, peer); }

  Host& host_;
  const Groups& groups_;
  const int group_;
};

}  // namespace depfast
