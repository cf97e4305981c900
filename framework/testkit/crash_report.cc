#include "testkit/crash_report.h"

#include <dlfcn.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/crash_stack.h"
#include "core/fatal_signal.h"
#include "core/stack_overflow.h"
#include "testkit/history.h"

namespace depfast::testkit {
namespace {

// The data that the handlers read. The step's thread and theirs are the same.
volatile sig_atomic_t replica_in_step = -1;
volatile std::int64_t step_began_ns = 0;
ThrowPlace latest_throw;  // of the step under way

void WriteStack(const CallStack& stack, const void* interrupted) {
  std::array<char, CallStack::kOffsetsBytes> text;
  WriteToStderr("stack:");
  WriteToStderr(stack.Offsets(text, interrupted));
  WriteToStderr("\n");
}

// Writes a time in FormatTime's form.
void WriteTime(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::array<char, 6> fraction;
  std::int64_t micros = ns % kSecond / 1000;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit, micros /= 10) {
    *digit = static_cast<char>('0' + micros % 10);
  }
  WriteNumber(ns / kSecond);
  WriteToStderr(".");
  WriteToStderr({fraction.data(), fraction.size()});
  WriteToStderr(" s");
}

// `coroutine`: null or "" if none runs.
void WriteWhere(const char* coroutine) {
  if (replica_in_step < 0) return;
  WriteToStderr("in a step of replica ");
  WriteNumber(replica_in_step);
  WriteToStderr(" at ");
  WriteTime(step_began_ns);
  if (coroutine != nullptr && *coroutine != '\0') {
    WriteToStderr(", in coroutine '");
    WriteToStderr(coroutine);
    WriteToStderr("'");
  }
  WriteToStderr("\n");
}

// Lines that the history already has: nothing is allocated here.
void WriteLastSteps() {
  const History* history = History::Latest();
  if (history == nullptr || history->lines().empty()) return;
  constexpr std::size_t kLines = 20;
  WriteToStderr("The last steps before:\n");
  const auto& lines = history->lines();
  for (std::size_t i = lines.size() - std::min(kLines, lines.size()); i < lines.size(); ++i) {
    WriteToStderr(lines[i]);
    WriteToStderr("\n");
  }
}

// Not used with sanitizers.
[[maybe_unused]] void Report(int signal_number, siginfo_t* info, void* context) {
  if (IsFromOutside(signal_number, info)) return;
  if (info != nullptr) {
    const char* const reason = CrashInWords(signal_number, *info);
    WriteToStderr(signal_number == SIGABRT ? "aborted" : "crashed");
    if (reason != nullptr) WriteToStderr(": ");
    if (reason != nullptr) WriteToStderr(reason);
    WriteToStderr("\n");
  }
  WriteWhere(RunningCoroutine::Name());
  WriteStack(CallStack::Here(), InterruptedBy(context));
  WriteLastSteps();
}

}  // namespace

void WriteNumber(std::int64_t number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  WriteToStderr({digits.data(), end});
}

void InstallCrashReport() {
#ifdef DEPFAST_SANITIZED
  InstallStackOverflowHandler();
#else
  InstallCrashHandlers(Report);
#endif
}

StepUnderWay::StepUnderWay(PeerId replica, Time now) {
  latest_throw.Clear();
  step_began_ns = now.count();
  replica_in_step = replica;
}

StepUnderWay::~StepUnderWay() { replica_in_step = -1; }

PeerId StepUnderWay::replica() { return static_cast<PeerId>(replica_in_step); }

void StepUnderWay::ReportThrow() {
  if (latest_throw.empty()) return;
  WriteToStderr("the latest exception was thrown\n");
  WriteWhere(latest_throw.coroutine());
  WriteStack(latest_throw.stack(), nullptr);
}

#if !defined(DEPFAST_SANITIZED) && defined(__ELF__)
// Takes the place of the C++ runtime's function for each `throw`.
[[noreturn]] void RememberThrow(void* thrown, void* type,
                                void (*destroy)(void*)) __asm__("__cxa_throw");

void RememberThrow(void* thrown, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto real = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  if (replica_in_step >= 0) latest_throw.Remember();
  real(thrown, type, destroy);
  __builtin_unreachable();
}
#endif

}  // namespace depfast::testkit
