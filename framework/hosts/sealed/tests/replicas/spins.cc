// Loops without ever waiting.
#include "trouble.h"

namespace {
volatile bool for_ever = true;
}

TROUBLE_REPLICA(while (for_ever){})
