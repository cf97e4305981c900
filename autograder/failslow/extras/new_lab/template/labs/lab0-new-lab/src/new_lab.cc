#include "new_lab.h"

namespace depfast::lab0 {

// TODO: count the replicas.
std::int64_t CountReplicas(Runtime&) { return 0; }

}  // namespace depfast::lab0
