#include "sealed/crash_message.h"

#include <signal.h>

#include <array>

#include "core/crash_stack.h"
#include "core/fatal_signal.h"
#include "core/stack_overflow.h"

namespace depfast::sealed {
namespace {

ThrowPlace latest_throw;

// Only async-signal-safe calls up to the end of the handlers.
void WriteCoroutine() {
  if (const char* const coroutine = RunningCoroutine::Name()) {
    WriteToStderr("in coroutine '");
    WriteToStderr(coroutine);
    WriteToStderr("'\n");
  }
}

void WriteFrames(const char* kind, const void* context) {
  std::array<char, CallStack::kOffsetsBytes> text;
  WriteToStderr(kind);
  WriteToStderr(CallStack::Here().Offsets(text, InterruptedBy(context)));
  WriteToStderr("\n");
}

// Neither is used with sanitizers. `info` is null if the reason has been told.
[[maybe_unused]] void OnCrash(int signal_number, siginfo_t* info, void* context) {
  if (IsFromOutside(signal_number, info)) return;
  const char* const reason = info == nullptr ? nullptr : CrashInWords(signal_number, *info);
  if (reason != nullptr) {
    WriteToStderr(reason);
    WriteToStderr("\n");
  }
  if (info != nullptr) WriteCoroutine();
  WriteFrames("stack:", context);
}

// The simulator asks a replica that never waits.
[[maybe_unused]] void OnNeverWaiting(int signal_number, siginfo_t*, void* context) {
  WriteCoroutine();
  WriteFrames("loop:", context);
  raise(signal_number);
}

}  // namespace

void InstallCrashMessages() {
#ifdef DEPFAST_SANITIZED
  InstallStackOverflowHandler();
#else
  InstallCrashHandlers(OnCrash);
  HandleOnce(SIGXCPU, OnNeverWaiting);
#endif
}

std::string PlaceOfLatestThrow() {
  if (latest_throw.empty()) return "";
  std::string place;
  if (*latest_throw.coroutine() != '\0') {
    place += "\nin coroutine '" + std::string(latest_throw.coroutine()) + "'";
  }
  std::array<char, CallStack::kOffsetsBytes> text;
  return place + "\nstack:" + std::string(latest_throw.stack().Offsets(text, nullptr));
}

}  // namespace depfast::sealed

#ifndef DEPFAST_SANITIZED
// The linker puts the second one in the place of each call of the C++ runtime's function, which is
// the first one.
extern "C" [[noreturn]] void __real___cxa_throw(void* thrown, void* type, void (*destroy)(void*));
extern "C" [[noreturn]] void __wrap___cxa_throw(void* thrown, void* type, void (*destroy)(void*)) {
  depfast::sealed::latest_throw.Remember();
  __real___cxa_throw(thrown, type, destroy);
}
#endif
