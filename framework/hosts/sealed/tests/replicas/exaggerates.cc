// Announces a message of four gigabytes.
#include <unistd.h>

#include <string>

#include "trouble.h"

TROUBLE_REPLICA([[maybe_unused]] const auto written = write(4, "\xff\xff\xff\xff", 4);)
