// Waits for something that the runtime does not know.
#include <unistd.h>

#include "trouble.h"

TROUBLE_REPLICA(pause();)
