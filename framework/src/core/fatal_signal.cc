#include "core/fatal_signal.h"

#include <unistd.h>

namespace depfast {

void WriteToStderr(std::string_view text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void HandleOnce(int signal_number, SignalHandler handler) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, nullptr);
}

// On Linux each code that is not positive is a sender's.
bool IsSent(const siginfo_t& info) { return info.si_code <= 0 || info.si_code == SI_USER; }

bool IsWithoutAddress(const siginfo_t& info) {
#ifdef SI_KERNEL
  return info.si_code == SI_KERNEL;
#else
  static_cast<void>(info);
  return false;
#endif
}

}  // namespace depfast
