// Leaves in the middle of a handler.
#include <unistd.h>

#include "trouble.h"

TROUBLE_REPLICA(_exit(3);)
