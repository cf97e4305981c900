// SentEntries: how often leaders have sent each entry to each follower, and how many bytes in all.
// It reads frames alone.
//
// A round sends an entry to a follower once. Every further time is catch-up: the leader gave the
// follower up. The thesis warns of the same entries sent twice (document 000, section 3.1). Bytes
// tell of what is sent in other messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "depfast/peer.h"
#include "sim/observer.h"
#include "sim/simulator.h"

namespace depfast::lab4 {

class SentEntries : private sim::Observer {
 public:
  // Watches `simulator` from now on, which outlives it.
  explicit SentEntries(sim::Simulator& simulator);
  SentEntries(const SentEntries&) = delete;
  SentEntries& operator=(const SentEntries&) = delete;

  struct Count {
    std::size_t entries = 0;      // different ones
    std::size_t repeated = 0;     // entries that were sent before, and chunks of snapshots
    std::size_t entry_bytes = 0;  // of the different entries
    std::size_t bytes = 0;        // of all messages of replicas, whatever they hold
  };
  // The entries sent to `follower` since the latest Reset.
  Count To(PeerId follower) const;
  void Reset() { followers_.clear(); }

 private:
  struct Follower {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> times;  // by term and index
    std::size_t chunks = 0;
    std::size_t entry_bytes = 0;
    std::size_t bytes = 0;
  };

  // A frame counts when it is given to its connection, even if it is released later.
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override;
  static void OnAppend(Follower& follower, std::string_view body);

  std::map<PeerId, Follower> followers_;
};

}  // namespace depfast::lab4
