#include "log_world.h"

namespace depfast {

LogWorld::LogWorld(const testkit::ClusterOptions& options, const MakeChecker& make_checker)
    : OwnCluster{testkit::Cluster(options)}, LogGroup(cluster, 0, make_checker) {}

LogWorld::~LogWorld() {
  if (!cluster.first_death().empty()) ADD_FAILURE() << cluster.first_death();
}

}  // namespace depfast
