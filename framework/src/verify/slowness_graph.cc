#include "depfast/verify/slowness_graph.h"

#include <utility>

namespace depfast {

const char* NameOf(EdgeColor color) {
  switch (color) {
    case EdgeColor::kRed:
      return "red";
    case EdgeColor::kGreen:
      return "green";
    case EdgeColor::kBackground:
      return "background";
  }
  return "?";
}

void SlownessGraph::Add(const WindowFacts& facts) {
  for (const WaitFacts& waits : facts.waits) {
    if (waits.peers.empty()) continue;
    const auto edge = [&](EdgeColor color) -> WaitTimes& {
      return edges_[{facts.replica, waits.peers, color, waits.needed, waits.total, waits.coroutine,
                     waits.event}];
    };
    if (waits.on_path.count > 0) {
      const bool tolerant = waits.needed < waits.total;
      edge(tolerant ? EdgeColor::kGreen : EdgeColor::kRed).Merge(waits.on_path);
    }
    if (waits.ended.count > waits.on_path.count) {
      edge(EdgeColor::kBackground)
          .Merge({waits.ended.count - waits.on_path.count,
                  waits.ended.total_ns - waits.on_path.total_ns, waits.ended.worst_ns});
    }
  }
  for (const ClientFacts& client : facts.clients) {
    edges_[{client.client, {facts.replica}, EdgeColor::kRed, 1, 1, "", "request"}].Merge(
        client.answered);
  }
}

void SlownessGraph::AddClientWait(PeerId client, PeerId replica, Duration time) {
  edges_[{client, {replica}, EdgeColor::kRed, 1, 1, "", "request"}].Add(time);
}

std::vector<GraphEdge> SlownessGraph::Edges() const {
  std::vector<GraphEdge> out;
  for (const auto& [key, waits] : edges_) {
    const auto& [from, to, color, needed, total, coroutine, event] = key;
    out.push_back({from, to, color, needed, total, coroutine, event, waits});
  }
  return out;
}

}  // namespace depfast
