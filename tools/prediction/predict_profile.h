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

// Reads JSON: {"cpu": {...}, "disk": {...}, "net": {...}, "client": {...}}, whole numbers, named
// like the members they set (durations with the suffix _ns). Throws std::invalid_argument with one
// line for a file that cannot be read, a name that is missing or unknown, a number that is negative
// or none.
Machine ReadMachine(const std::string& path);

}  // namespace depfast::predict
