#include "core/crash_stack.h"

#include <execinfo.h>
#ifdef __linux__
#include <ucontext.h>
#endif

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "core/stack_overflow.h"

#ifdef __ELF__
// The program's own code, as the linker places it.
extern "C" const char __executable_start;
extern "C" const char etext;
#endif

namespace depfast {
namespace {

SignalHandler report_crash = nullptr;

// The default action is restored.
void OnSignal(int signal_number, siginfo_t* info, void* context) {
  report_crash(signal_number, info, context);
  raise(signal_number);
}

}  // namespace

CallStack CallStack::Here() {
  CallStack stack;
  const int depth = backtrace(stack.frames_.data(), static_cast<int>(kFramesMax));
  stack.depth_ = static_cast<std::size_t>(depth);
  return stack;
}

std::string_view CallStack::Offsets(std::array<char, kOffsetsBytes>& text,
                                    const void* interrupted) const {
#ifdef __ELF__
  char* end = text.data();
  for (std::size_t i = 0; i < depth_; ++i) {
    const auto* frame = static_cast<const char*>(frames_[i]);
    if (frame < &__executable_start || frame >= &etext) continue;
    const auto offset = static_cast<std::uint64_t>(frame - &__executable_start);
    *end++ = ' ';
    const bool is_return = frame != interrupted;
    end = std::to_chars(end, text.data() + text.size(), offset - (is_return ? 1 : 0), 16).ptr;
  }
  return {text.data(), end};
#else
  static_cast<void>(text);
  static_cast<void>(interrupted);
  return {};
#endif
}

void ThrowPlace::Remember() {
  stack_ = CallStack::Here();
  const char* const name = RunningCoroutine::Name();
  const std::string_view copied = name == nullptr ? "" : name;
  const std::size_t size = std::min(copied.size(), coroutine_.size() - 1);
  *std::copy_n(copied.begin(), size, coroutine_.begin()) = '\0';
}

const void* InterruptedBy(const void* context) {
#if defined(__linux__) && defined(__x86_64__)
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return context == nullptr ? context : nullptr;
#endif
}

bool IsFromOutside(int signal_number, const siginfo_t* info) {
  return info != nullptr && IsSent(*info) && signal_number != SIGABRT;
}

const char* CrashInWords(int signal_number, const siginfo_t& info) {
  switch (signal_number) {
    case SIGSEGV:
      if (IsWithoutAddress(info)) return nullptr;  // told: see InstallStackOverflowHandler
      return reinterpret_cast<std::uintptr_t>(info.si_addr) < 4096 && !IsSent(info)
                 ? "a null pointer was followed"
                 : "an address was used that is no memory of the program";
    case SIGFPE:
      return "a division by zero, or an integer overflow";
    case SIGILL:
      return "an end of a function that returns nothing, or a trap";
    default:
      return nullptr;
  }
}

void InstallCrashHandlers(SignalHandler report) {
  static_cast<void>(CallStack::Here());  // loads what it needs
  report_crash = report;
  InstallStackOverflowHandler(report);
  for (const int number : {SIGFPE, SIGILL, SIGABRT}) HandleOnce(number, OnSignal);
}

}  // namespace depfast
