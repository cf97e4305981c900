// The service of the key-value lab: a replicated log (MakeReplicatedLog), your store as its state
// machine, and your service between clients and both.
#pragma once

#include <memory>

#include "depfast/host/service.h"
#include "depfast/runtime.h"

namespace depfast::kv {

// `runtime` must outlive it.
std::unique_ptr<Service> MakeKvDriver(Runtime& runtime);

}  // namespace depfast::kv
