// WindowRows: the rows of a window's facts while the window is under way.
//
// This is the hot path of verification. A window has few rows, so a row is found by a search of a
// short list.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "depfast/host/probe.h"
#include "depfast/verify/repeated_entries.h"
#include "depfast/verify/window_facts.h"

namespace depfast {

class WindowRows {
 public:
  struct Calls {
    CallFacts facts;
    RepeatedEntries entries;
  };
  // Coroutines of one name that left calls behind.
  struct FanOuts {
    std::string coroutine;
    std::set<std::uint64_t> tasks;
    std::set<PeerId> peers;
  };

  // References are good until the next row of that kind is added.
  WaitFacts& WaitsOf(const RuntimeProbe::Task& task, std::string_view event,
                     const WaitDescription& wait);
  Calls& CallsOf(std::string_view method, PeerId peer);
  QuorumFacts& QuorumsOf(std::string_view coroutine, std::string_view event,
                         const WaitDescription& wait);
  FanOuts& FanOutsOf(std::string_view coroutine);
  ClientFacts& ClientOf(PeerId client);
  // An answer of the peer in that one of kPresenceSlots. `took`: to a call that carried entries.
  void AddAnswer(PeerId peer, std::uint32_t slot, Duration latency, bool took);

  // Adds the rows to `facts`, in the order of their names.
  void AppendTo(WindowFacts& facts) const;

 private:
  struct Presence {
    std::uint32_t slots = 0;  // a bit for each with an answer
    LatencyHistogram latency;
    LatencyHistogram latency_of_entries;
  };

  std::vector<WaitFacts> waits_;
  std::vector<Calls> calls_;
  std::vector<QuorumFacts> quorums_;
  std::vector<FanOuts> fan_outs_;
  std::map<PeerId, Presence> presence_;
  std::unordered_map<PeerId, ClientFacts> clients_;
};

}  // namespace depfast
