// The replica program of the key-value lab.
#include <memory>

#include "depfast/host/service.h"
#include "kv_driver.h"

namespace depfast {

std::unique_ptr<Service> MakeService(Runtime& runtime) { return kv::MakeKvDriver(runtime); }

}  // namespace depfast
