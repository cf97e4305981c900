#include "saucr_types.h"

#include <stdexcept>
#include <string>

namespace depfast::saucr {

Quorums::Quorums(int replicas) : f_(replicas / 2) {
  if (replicas >= 3 && replicas % 2 == 1) return;
  throw std::invalid_argument(
      "SAUCR needs an odd number of replicas, 3 at least: this cluster has " +
      std::to_string(replicas));
}

}  // namespace depfast::saucr
