#include "testkit/endless_step.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/stack_overflow.h"

namespace depfast::testkit {
namespace {

// What the signal's handler reads. The step's thread and the handler's are the same.
volatile sig_atomic_t replica_in_step = -1;
volatile sig_atomic_t seconds_in_step = 0;
volatile sig_atomic_t seconds_max = 0;

// Only async-signal-safe calls from here on.
void Write(std::string_view text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void WriteNumber(int number) {
  std::array<char, 12> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  Write({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void OnCpuSecond(int) {
  if (replica_in_step < 0) return;
  seconds_in_step = seconds_in_step + 1;
  if (seconds_in_step <= seconds_max) return;
  Write("replica ");
  WriteNumber(replica_in_step);
  Write(" never waits: one step used more than ");
  WriteNumber(seconds_max);
  Write(" s of processor time");
  if (const char* coroutine = RunningCoroutine::Name()) {
    Write(" in coroutine '");
    Write(coroutine);
    Write("'");
  }
  Write(" (a loop without a Wait?)\n");
  std::abort();
}

// One signal for each second of processor time that the process uses.
void CountCpuSeconds() {
  struct sigaction action = {};
  action.sa_handler = OnCpuSecond;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPROF, &action, nullptr);
  const itimerval each_second = {{1, 0}, {1, 0}};
  setitimer(ITIMER_PROF, &each_second, nullptr);
}

class WatchedBackend final : public sim::ReplicaBackend {
 public:
  WatchedBackend(PeerId id, std::unique_ptr<sim::ReplicaBackend> watched)
      : id_(id), watched_(std::move(watched)) {}

  sim::StepOutput Step(const sim::StepInput& input) override {
    seconds_in_step = 0;
    replica_in_step = id_;
    sim::StepOutput output = watched_->Step(input);
    replica_in_step = -1;
    return output;
  }

  std::string DumpCoroutines() override { return watched_->DumpCoroutines(); }
  std::string Report(const std::string& probe) override { return watched_->Report(probe); }

 private:
  const PeerId id_;
  const std::unique_ptr<sim::ReplicaBackend> watched_;
};

}  // namespace

sim::BackendFactory EndingEndlessSteps(sim::BackendFactory factory, int cpu_seconds_max) {
  seconds_max = cpu_seconds_max;
  CountCpuSeconds();
  return [factory = std::move(factory)](const sim::ReplicaConfig& config) {
    return std::make_unique<WatchedBackend>(config.self, factory(config));
  };
}

}  // namespace depfast::testkit
