#include "depfast/verify/verification_json.h"

#include <nlohmann/json.hpp>

namespace depfast {
namespace {

using Json = nlohmann::ordered_json;

// The names come from a replica's process: they may be any bytes.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json ToJson(const PeerPresence& peer) {
  return {{"peer", peer.peer},
          {"answers", peer.latency.count()},
          {"median_ns", peer.latency.Percentile(500).count()},
          {"p99_ns", peer.latency.Percentile(990).count()},
          {"p999_ns", peer.latency.Percentile(999).count()}};
}

Json ToJson(const Warning& warning) {
  Json json = {{"kind", NameOf(warning.kind)},   {"replica", warning.replica},
               {"begin_ns", warning.begin_ns},   {"end_ns", warning.end_ns},
               {"coroutine", warning.coroutine}, {"wait", warning.wait},
               {"peers", warning.peers},         {"count", warning.count},
               {"worst_ns", warning.worst_ns},   {"active", Json::array()},
               {"text", warning.Text()}};
  for (const PeerPresence& peer : warning.active) json["active"].push_back(ToJson(peer));
  return json;
}

Json ToJson(const std::vector<Warning>& warnings) {
  Json json = Json::array();
  for (const Warning& warning : warnings) json.push_back(ToJson(warning));
  return json;
}

Json ToJson(const SlownessGraph& graph) {
  Json edges = Json::array();
  for (const GraphEdge& edge : graph.Edges()) {
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"color", NameOf(edge.color)},
                     {"needed", edge.needed},
                     {"total", edge.total},
                     {"coroutine", edge.coroutine},
                     {"event", edge.event},
                     {"count", edge.waits.count},
                     {"total_ns", edge.waits.total_ns},
                     {"mean_ns", edge.waits.mean_ns()},
                     {"worst_ns", edge.waits.worst_ns}});
  }
  return {{"replicas", graph.replicas()}, {"edges", std::move(edges)}};
}

}  // namespace

std::string JsonOf(const Warning& warning) { return Dump(ToJson(warning)); }

std::string JsonOf(const std::vector<Warning>& warnings) { return Dump(ToJson(warnings)); }

std::string JsonOf(const SlownessGraph& graph) { return Dump(ToJson(graph)); }

std::string JsonOf(const WindowFacts& facts) {
  SlownessGraph graph(facts.replicas);
  graph.Add(facts);
  return Dump({{"replica", facts.replica},
               {"begin_ns", facts.begin_ns},
               {"end_ns", facts.end_ns},
               {"warnings", ToJson(WarningsOf(facts))},
               {"graph", ToJson(graph)}});
}

}  // namespace depfast
