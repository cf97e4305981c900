#include "testkit/endless_step.h"

#include <signal.h>
#include <sys/time.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "core/fatal_signal.h"
#include "core/stack_overflow.h"
#include "testkit/crash_report.h"

namespace depfast::testkit {
namespace {

// The data that the signal's handler reads. The step's thread and the handler's are the same.
volatile sig_atomic_t seconds_in_step = 0;
volatile sig_atomic_t seconds_max = 0;

// Only async-signal-safe calls here. The report of the abort tells where the step is.
void OnCpuSecond(int) {
  if (StepUnderWay::replica() < 0) return;
  seconds_in_step = seconds_in_step + 1;
  if (seconds_in_step <= seconds_max) return;
  WriteToStderr("replica ");
  WriteNumber(StepUnderWay::replica());
  WriteToStderr(" never waits: one step used more than ");
  WriteNumber(seconds_max);
  WriteToStderr(" s of processor time");
  if (const char* coroutine = RunningCoroutine::Name()) {
    WriteToStderr(" in coroutine '");
    WriteToStderr(coroutine);
    WriteToStderr("'");
  }
  WriteToStderr(" (a loop without a Wait?)\n");
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
    const StepUnderWay step(id_, input.now);
    sim::StepOutput output = watched_->Step(input);
    if (!output.death.empty()) StepUnderWay::ReportThrow();
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
