// The place of a crash: the parts of a crash report that tests and sealed replicas share.
//
// A process cannot name lines of its sources: its report has a line "stack:" with offsets into its
// own program, and `kit` turns them into lines of the student's files.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "core/fatal_signal.h"

namespace depfast {

// Return addresses, innermost first. The deepest frames of a recursion are enough.
class CallStack {
 public:
  static constexpr std::size_t kFramesMax = 64;
  static constexpr std::size_t kOffsetsBytes = 17 * kFramesMax;

  // The caller's stack. Async-signal-safe, but for the first call of a process.
  static CallStack Here();

  bool empty() const { return depth_ == 0; }
  void Clear() { depth_ = 0; }

  // " 1a2b 3c": frames in the program itself, as offsets from its start. All but `interrupted` (see
  // InterruptedBy, or null) are return addresses; the call is before them. The result lies in
  // `text`; it is empty where programs are not ELF files. Async-signal-safe.
  std::string_view Offsets(std::array<char, kOffsetsBytes>& text, const void* interrupted) const;

 private:
  std::array<void*, kFramesMax> frames_{};
  std::size_t depth_ = 0;
};

// The place of the latest throw: when somebody catches the exception, the stack is gone.
class ThrowPlace {
 public:
  // Remembers the stack of the caller, which is about to throw. Does not allocate.
  void Remember();
  void Clear() { stack_.Clear(); }

  bool empty() const { return stack_.empty(); }
  const CallStack& stack() const { return stack_; }
  // "" if no coroutine ran.
  const char* coroutine() const { return coroutine_.data(); }

 private:
  CallStack stack_;
  std::array<char, 64> coroutine_{};  // a longer name is cut
};

// The instruction that a signal has interrupted, from the third argument of its handler. Null on a
// system or processor that we do not know.
const void* InterruptedBy(const void* context);

// Whether another process has sent the signal: it says nothing about the code. `info` may be null.
bool IsFromOutside(int signal_number, const siginfo_t* info);

// "a null pointer was followed": what the code did. Null for an abort, for unknown signals, and if
// the handler of stack overflows has told it.
const char* CrashInWords(int signal_number, const siginfo_t& info);

// Handlers for the signals of a crash (see InstallStackOverflowHandler). They call `report` and let
// the signal kill the process as usual. Call once, from the thread that runs coroutines.
void InstallCrashHandlers(SignalHandler report);

}  // namespace depfast
