// The message of a sealed replica whose code crashes: why, in which coroutine, and the line
// "stack:" of core/crash_stack.h. The simulator knows which replica it is, and when.
//
// SIGXCPU asks a replica that never waits where it is. It answers and ends, with a line "loop:" of
// the same offsets. The innermost ones depend on the moment.
#pragma once

#include <string>

namespace depfast::sealed {

// Handlers for SIGXCPU and the signals of a crash, which write to stderr. Call once, from the main
// thread.
void InstallCrashMessages();

// "\nin coroutine 'apply'\nstack: 1a2b 3c" of the latest exception that was thrown; "" if none was.
// A sanitizer needs the C++ runtime's own functions: with one there is no place.
std::string PlaceOfLatestThrow();

}  // namespace depfast::sealed
