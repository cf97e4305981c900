// SlownessGraph: which node waits for which (document 001, section 3.3; document 002, figure 7).
//
// A vertex is a replica or a client. An edge is a kind of wait, with the nodes it waits for:
//
//   red         on a client's path, and every one of the nodes is needed: 1 of 1, or n of n. A slow
//               node delays the waiting one. Healthy: only from clients.
//   green       on a client's path, k of n: a quorum tolerates a slow node
//   background  no client waits meanwhile: catch-up, elections, the grace of Finalize
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "depfast/peer.h"
#include "depfast/time.h"
#include "depfast/verify/window_facts.h"

namespace depfast {

// The colour of a wait: see the table above.
enum class EdgeColor : std::uint8_t { kRed, kGreen, kBackground };

const char* NameOf(EdgeColor color);  // "red", "green", "background"

// Waits of one node for others: `needed` of `total` answers end a wait.
struct GraphEdge {
  PeerId from = kNobody;
  std::vector<PeerId> to;  // ascending, not empty
  EdgeColor color = EdgeColor::kBackground;
  int needed = 1;
  int total = 1;
  std::string coroutine;  // empty for a client
  std::string event;      // the label of the event waited on
  WaitTimes waits;        // on a path: the parts on the path
};

class SlownessGraph {
 public:
  explicit SlownessGraph(int replicas) : replicas_(replicas) {}

  // Adds a replica's waits of one window.
  void Add(const WindowFacts& facts);
  // A client has waited for a replica's answer.
  void AddClientWait(PeerId client, PeerId replica, Duration time);

  int replicas() const { return replicas_; }
  // Ascending by their fields.
  std::vector<GraphEdge> Edges() const;

 private:
  using Key =
      std::tuple<PeerId, std::vector<PeerId>, EdgeColor, int, int, std::string, std::string>;

  int replicas_;
  std::map<Key, WaitTimes> edges_;
};

}  // namespace depfast
