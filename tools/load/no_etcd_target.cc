// In place of etcd_target.cc where gRPC is not installed.
#include <stdexcept>

#include "etcd_target.h"

namespace depfast::load {

std::unique_ptr<PutTarget> ConnectToEtcd(const TargetOptions&) {
  throw std::runtime_error("built without gRPC: configure with -DFAILSLOW_ETCD=ON");
}

}  // namespace depfast::load
