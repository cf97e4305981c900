// A calibrated machine, as `./kit bench calibrate` writes it down.
#pragma once

#include <string>

#include "client_core.h"
#include "sim/profile.h"

namespace depfast::predict {

struct Machine {
  sim::Profile profile;
  ClientCosts client;
};

// Reads JSON: {"cpu": {...}, "disk": {...}, "net": {...}, "client": {...}}. The values are whole
// numbers, named like the members they set (durations with the suffix _ns). Throws
// std::invalid_argument, in one line, for a file that cannot be read, a missing or unknown name, a
// negative number or no number.
Machine ReadMachine(const std::string& path);

}  // namespace depfast::predict
