#include "health_claims.h"

namespace depfast::adr {

void Claim(Runtime&, const Observation&) {}

}  // namespace depfast::adr
