// Puts to etcd, for comparison.
#pragma once

#include <memory>

#include "put_target.h"

namespace depfast::load {

// Looks for the leader, and connects to it. Throws std::exception if none is found in 10 s, or if
// this program was built without gRPC.
std::unique_ptr<PutTarget> ConnectToEtcd(const TargetOptions& options);

}  // namespace depfast::load
