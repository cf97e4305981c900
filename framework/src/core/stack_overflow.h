// Stack overflow: a message that names the coroutine, instead of a bare segmentation fault.
#pragma once

#include "core/fatal_signal.h"
#include "core/fiber.h"

namespace depfast {

// Marks the coroutine that runs on this thread, until the object's end. Cheap: every resume makes
// one.
class RunningCoroutine {
 public:
  RunningCoroutine(const char* name, const StackBounds& stack);
  ~RunningCoroutine();
  RunningCoroutine(const RunningCoroutine&) = delete;
  RunningCoroutine& operator=(const RunningCoroutine&) = delete;

  // The name of the innermost coroutine that runs on this thread, or null. Async-signal-safe.
  static const char* Name();

  struct Mark {
    const char* name = nullptr;
    const StackBounds* stack = nullptr;
  };

 private:
  Mark previous_;
};

// Installs a SIGSEGV handler on a stack of its own. The handler recognises a touched guard page,
// names the coroutine that overflowed, calls `then` unless it is null, and lets the signal kill the
// process as usual. `then` gets no `info` if the reason has been told. Call once per process, from
// the thread that runs coroutines.
void InstallStackOverflowHandler(SignalHandler then = nullptr);

}  // namespace depfast
