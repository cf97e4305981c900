#include "testkit/crash_report.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/stack_overflow.h"
#include "testkit/history.h"

// The program's own code, as the linker places it.
extern "C" const char __executable_start;
extern "C" const char etext;

namespace depfast::testkit {
namespace {

struct Stack {
  std::array<void*, 64> frames{};
  int depth = 0;
};

// What the handlers read. The step's thread and theirs are the same.
volatile sig_atomic_t replica_in_step = -1;
volatile std::int64_t step_began_ns = 0;
Stack latest_throw;  // of the step under way

void Write(std::string_view text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void WriteDigits(std::uint64_t number, int base) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
  Write({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

// The instruction that a signal has interrupted; null on a processor that we do not know.
const void* Interrupted(const void* context) {
#if defined(__x86_64__)
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return context == nullptr ? context : nullptr;
#endif
}

// Frames of the program itself, as offsets. All but the interrupted one are return addresses: the
// call is before them.
void WriteStack(const Stack& stack, const void* interrupted) {
  Write("stack:");
  for (int i = 0; i < stack.depth; ++i) {
    const auto* frame = static_cast<const char*>(stack.frames[static_cast<std::size_t>(i)]);
    if (frame < &__executable_start || frame >= &etext) continue;
    const bool is_return = frame != interrupted;
    Write(" ");
    WriteDigits(static_cast<std::uint64_t>(frame - &__executable_start) - (is_return ? 1 : 0), 16);
  }
  Write("\n");
}

// As FormatTime has it.
void WriteTime(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::array<char, 6> fraction;
  std::int64_t micros = ns % kSecond / 1000;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit, micros /= 10) {
    *digit = static_cast<char>('0' + micros % 10);
  }
  WriteNumber(ns / kSecond);
  Write(".");
  Write({fraction.data(), fraction.size()});
  Write(" s");
}

void WriteWhere() {
  if (replica_in_step < 0) return;
  Write("in a step of replica ");
  WriteNumber(replica_in_step);
  Write(" at ");
  WriteTime(step_began_ns);
  if (const char* coroutine = RunningCoroutine::Name()) {
    Write(", in coroutine '");
    Write(coroutine);
    Write("'");
  }
  Write("\n");
}

// Lines that the history already has: nothing is allocated here.
void WriteLastSteps() {
  const History* history = History::Latest();
  if (history == nullptr || history->lines().empty()) return;
  constexpr std::size_t kLines = 20;
  Write("The last steps before:\n");
  const auto& lines = history->lines();
  for (std::size_t i = lines.size() - std::min(kLines, lines.size()); i < lines.size(); ++i) {
    Write(lines[i]);
    Write("\n");
  }
}

const char* InWords(int signal_number, const siginfo_t& info) {
  switch (signal_number) {
    case SIGSEGV:
      return reinterpret_cast<std::uintptr_t>(info.si_addr) < 4096 && info.si_code > 0
                 ? "crashed: a null pointer was followed\n"
                 : "crashed: an address was used that is no memory of the program\n";
    case SIGFPE:
      return "crashed: a division by zero, or an integer overflow\n";
    case SIGILL:
      return "crashed: an end of a function that returns nothing, or a trap\n";
    case SIGABRT:
      return "aborted\n";
    default:
      return "crashed\n";
  }
}

void Report(int signal_number, siginfo_t* info, void* context) {
  const bool from_outside = info != nullptr && info->si_code <= 0 && signal_number != SIGABRT;
  if (from_outside) return;
  if (info != nullptr) Write(InWords(signal_number, *info));
  WriteWhere();
  Stack stack;
  stack.depth = backtrace(stack.frames.data(), static_cast<int>(stack.frames.size()));
  WriteStack(stack, Interrupted(context));
  WriteLastSteps();
}

// SA_RESETHAND has restored the default action. Not used with sanitizers.
[[maybe_unused]] void OnSignal(int signal_number, siginfo_t* info, void* context) {
  Report(signal_number, info, context);
  raise(signal_number);
}

}  // namespace

void WriteWord(const char* word) { Write(word); }

void WriteNumber(std::int64_t number) { WriteDigits(static_cast<std::uint64_t>(number), 10); }

void InstallCrashReport() {
#ifdef DEPFAST_SANITIZED
  InstallStackOverflowHandler();
#else
  latest_throw.depth = backtrace(latest_throw.frames.data(), 1);  // loads what it needs
  InstallStackOverflowHandler(Report);
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
#endif
}

StepUnderWay::StepUnderWay(PeerId replica, Time now) {
  latest_throw.depth = 0;
  step_began_ns = now.count();
  replica_in_step = replica;
}

StepUnderWay::~StepUnderWay() { replica_in_step = -1; }

PeerId StepUnderWay::replica() { return static_cast<PeerId>(replica_in_step); }

void StepUnderWay::ReportThrow() {
  if (latest_throw.depth == 0) return;
  Write("the latest exception was thrown\n");
  WriteWhere();
  WriteStack(latest_throw, nullptr);
}

#ifndef DEPFAST_SANITIZED
// Takes the place of the C++ runtime's function for each `throw`: when somebody catches, the stack
// is gone.
[[noreturn]] void RememberThrow(void* thrown, void* type,
                                void (*destroy)(void*)) __asm__("__cxa_throw");

void RememberThrow(void* thrown, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto real = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  if (replica_in_step >= 0) {
    latest_throw.depth =
        backtrace(latest_throw.frames.data(), static_cast<int>(latest_throw.frames.size()));
  }
  real(thrown, type, destroy);
  __builtin_unreachable();
}
#endif

}  // namespace depfast::testkit
