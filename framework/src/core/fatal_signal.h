// The parts of handlers of fatal signals.
#pragma once

#include <signal.h>

#include <string_view>

namespace depfast {

// To stderr. Async-signal-safe.
void WriteToStderr(std::string_view text);

using SignalHandler = void (*)(int signal_number, siginfo_t* info, void* context);

// Calls `handler` at the first signal of that number, on the alternate stack if there is one. The
// next one has the default action.
void HandleOnce(int signal_number, SignalHandler handler);

// Whether a process has sent the signal, this one or another: it is no fault of an instruction.
bool IsSent(const siginfo_t& info);

// Whether the kernel tells no address that the faulting instruction used.
bool IsWithoutAddress(const siginfo_t& info);

}  // namespace depfast
