#include "ask.h"

#include "new_lab.h"
#include "testkit/client.h"

namespace depfast::lab0 {

std::optional<std::int64_t> AskForCount(testkit::Cluster& cluster, PeerId replica,
                                        Duration patience) {
  testkit::Client client(cluster.simulator());
  bool ended = false;
  std::optional<std::int64_t> count;
  client.Call(replica, Count{}, patience, [&](const std::optional<Counted>& reply) {
    ended = true;
    if (reply) count = reply->replicas;
  });
  cluster.RunUntil([&] { return ended; }, 2 * patience);
  return count;
}

}  // namespace depfast::lab0
