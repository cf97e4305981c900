// fault_probe: a replica that measures its own processor, disk or network, for `kit faults check`.
//
// Replica 0 repeats one operation and prints a line for each: when it ended, on CLOCK_MONOTONIC,
// and how long it took, in nanoseconds. The environment says which operation: FAULT_PROBE is "cpu",
// "disk" or "net". The other replicas only answer.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "depfast/host/codec.h"
#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "depfast/storage.h"
#include "depfast/timeout_event.h"
#include "real/main.h"

namespace depfast::probe {
namespace {

struct Empty {
  DEPFAST_FIELDS()
};

struct Ping {
  using Reply = Empty;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Ping";
  DEPFAST_FIELDS()
};

constexpr PeerId kProber = 0;
constexpr PeerId kOther = 1;
constexpr Duration kPingTimeout = 2s;
constexpr std::size_t kAppendBytes = 256 * 1024;
constexpr int kAppendsOfAFile = 64;
constexpr Duration kSpin = 1ms;

Time Clock() { return std::chrono::steady_clock::now().time_since_epoch(); }

// The processor time of this thread.
Time CpuTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

class ProbeService : public Service {
 public:
  explicit ProbeService(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.rpc().HandleInline<Ping>(
        [](const Ping&, const Responder<Empty>& responder) { responder.Send({}); });
    if (runtime_.self() != kProber) return;
    const char* const which = std::getenv("FAULT_PROBE");
    const std::string_view wanted = which == nullptr ? "" : which;
    if (wanted == "cpu") Repeat(&ProbeService::Spin);
    if (wanted == "disk") Repeat(&ProbeService::Append);
    if (wanted == "net") Repeat(&ProbeService::SendPing);
  }

 private:
  using Operation = void (ProbeService::*)();

  void Repeat(Operation operation) {
    runtime_.Spawn("Probe", [this, operation] {
      for (;;) {
        const Time began = Clock();
        (this->*operation)();
        const Time ended = Clock();
        std::printf("%lld %lld\n", static_cast<long long>(ended.count()),
                    static_cast<long long>((ended - began).count()));
        std::fflush(stdout);
        TimeoutEvent::After(Duration::zero())->Wait();  // the event loop turns
      }
    });
  }

  // Uses a millisecond of the processor, however fast it is at the moment.
  void Spin() {
    const Time end = CpuTime() + kSpin;
    while (CpuTime() < end) continue;
  }

  void Append() {
    if (++appends_ % kAppendsOfAFile == 0) runtime_.storage().Truncate("probe", 0)->Wait();
    runtime_.storage().Append("probe", std::string(kAppendBytes, 'x'), Storage::Sync::kYes)->Wait();
  }

  void SendPing() { runtime_.rpc().Call(kOther, Ping{}, kPingTimeout)->Wait(); }

  Runtime& runtime_;
  int appends_ = 0;
};

}  // namespace
}  // namespace depfast::probe

std::unique_ptr<depfast::Service> depfast::MakeService(Runtime& runtime) {
  return std::make_unique<probe::ProbeService>(runtime);
}

int main(int argc, char** argv) { return depfast::real::RealMain(argc, argv); }
