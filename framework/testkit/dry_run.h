// DryRun: a run of a scenario that leaves no trace: neither failures, nor histories, nor
// recordings. A test uses it to find the run that it then shows.
#pragma once

#include <functional>
#include <string>

namespace depfast::testkit {

// Runs `scenario`, which may use the assertions of GoogleTest. Returns what failed: the first
// invariant that a failure names, else the place of the first failure. Empty if nothing failed.
std::string DryRun(const std::function<void()>& scenario);

}  // namespace depfast::testkit
