// The catalogue of faults as JSON, for programs that are not C++.
#pragma once

#include <string>

namespace depfast::faults {

// {"kinds": [{"name", "unit", "amount_min", "amount_max", "effect", "slows",
//            "to_receivers"}],
//  "presets": [{"name", "kind", "amount", "text", "source"}]}
// An amount is in its kind's unit: "percent", "bytes-per-second", "nanoseconds", "per-mille",
// "bytes" or "none". `text` is the amount as a fault's text says it: "cpu-slow 5%".
std::string CatalogueJson();

}  // namespace depfast::faults
