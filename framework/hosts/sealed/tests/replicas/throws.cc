// Lets an exception escape from a coroutine that is no handler.
#include <stdexcept>

#include "trouble.h"

TROUBLE_REPLICA(runtime.Spawn("thrower", [] { throw std::runtime_error("out of luck"); });)
