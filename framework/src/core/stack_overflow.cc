#include "core/stack_overflow.h"

#include <signal.h>

#include <array>
#include <cstddef>
#include <utility>

namespace depfast {
namespace {

thread_local RunningCoroutine::Mark running;
SignalHandler report_more = nullptr;

// Only async-signal-safe calls.
void OnSegmentationFault(int signal_number, siginfo_t* info, void* context) {
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  const RunningCoroutine::Mark mark = running;
  const bool overflows =
      mark.stack != nullptr && address >= mark.stack->guard && address < mark.stack->bottom;
  if (overflows) {
    WriteToStderr("stack overflow in coroutine '");
    WriteToStderr(mark.name);
    WriteToStderr("': deep recursion, or a large array that belongs on the heap\n");
  } else if (IsWithoutAddress(*info) && address == nullptr) {
    // The kernel has no address for it. A sealed replica has no clock.
    WriteToStderr("a clock was read, or a pointer is no address at all\n");
  }
  if (report_more != nullptr) report_more(signal_number, overflows ? nullptr : info, context);
  // The default action is restored: returning repeats the fault and ends the process with the
  // signal, core dump and exit status that everybody expects. A signal that another process sent
  // does not repeat by itself.
  if (IsSent(*info)) raise(signal_number);
}

}  // namespace

RunningCoroutine::RunningCoroutine(const char* name, const StackBounds& stack)
    : previous_(std::exchange(running, Mark{name, &stack})) {}

RunningCoroutine::~RunningCoroutine() { running = previous_; }

const char* RunningCoroutine::Name() { return running.name; }

void InstallStackOverflowHandler(SignalHandler then) {
  report_more = then;
  static std::array<std::byte, 64 * 1024> handler_stack;
  stack_t alternate = {};
  alternate.ss_sp = handler_stack.data();
  alternate.ss_size = handler_stack.size();
  sigaltstack(&alternate, nullptr);
  HandleOnce(SIGSEGV, OnSegmentationFault);
  HandleOnce(SIGBUS, OnSegmentationFault);
}

}  // namespace depfast
