#include "health_claims.h"

namespace depfast::adr {

void Claim(Runtime& runtime, const Observation& claim) { runtime.Observe(claim); }

}  // namespace depfast::adr
