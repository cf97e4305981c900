// Closes its connection to the simulator, and lives on.
#include <unistd.h>

#include "trouble.h"

TROUBLE_REPLICA(close(3); close(4); pause();)
