// Support for the core's tests: a host that does nothing by itself, and a replica on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "depfast/event.h"
#include "depfast/host/codec.h"
#include "depfast/host/host.h"
#include "depfast/host/hosted_runtime.h"
#include "depfast/host/random.h"

namespace depfast {

struct EventTestPeer {
  static std::size_t Waiters(const Event& event) { return event.waiters_.size(); }
  static std::size_t Parents(const Event& event) { return event.parents_.size(); }
};

}  // namespace depfast

namespace depfast::testing {

#ifdef DEPFAST_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

using Log = std::vector<std::string>;

// The fields of a value that is packed into a report, in their order: ["round",2,true].
template <typename Packed>
std::string Fields(const Packed& value) {
  msgpack::sbuffer bytes;
  msgpack::pack(bytes, value);
  std::ostringstream text;
  text << msgpack::unpack(bytes.data(), bytes.size()).get();
  return text.str();
}

// Logs its end: the unwinding of the stack it is on.
struct Guard {
  Log& log;
  const char* name;
  ~Guard() { log.push_back(name); }
};

// Records a runtime's requests; time moves when the test says so.
class ManualHost final : public Host {
 public:
  struct Frame {
    FrameId id;
    PeerId peer;
    Bytes bytes;
  };

  Time Now() override { return now; }
  std::uint64_t Random() override { return random.Next(); }
  FrameId Send(PeerId peer, Bytes frame) override {
    sent.push_back({++last_frame, peer, std::move(frame)});
    return last_frame;
  }
  void Release(PeerId peer, FrameId frame) override { released.push_back({frame, peer, nullptr}); }
  std::size_t HeldBytes(PeerId) override { return 0; }
  void Submit(IoRequest request) override { submitted.push_back(std::move(request)); }
  void WakeAt(Time when) override { wake = when; }
  void Observe(const Observation&) override {}

  Time now{0};
  Time wake = kNever;  // the latest wish; kNever once it has been granted
  RandomStream random{7};
  FrameId last_frame = 0;
  std::vector<Frame> sent;
  std::vector<Frame> released;
  std::deque<IoRequest> submitted;
};

class Replica {
 public:
  explicit Replica(const RuntimeOptions& options = {}) : runtime(host, options) {}

  // Runs `body` outside any coroutine, where events may be made and decided.
  void In(const std::function<void()>& body) { runtime.Enter(body); }

  // In, and a step.
  void Do(const std::function<void()>& body) {
    In(body);
    Run();
  }

  template <typename T, typename... Args>
  std::shared_ptr<T> Make(Args&&... args) {
    std::shared_ptr<T> made;
    In([&] { made = std::make_shared<T>(std::forward<Args>(args)...); });
    return made;
  }

  void Spawn(const char* name, std::function<void()> body) { runtime.Spawn(name, std::move(body)); }

  // Spawns a coroutine that waits on `event`, and logs "NAME OUTCOME" then.
  void SpawnWaiter(const char* name, std::shared_ptr<Event> event, Duration timeout = kForever) {
    Spawn(name, [this, name, event = std::move(event), timeout] {
      log.push_back(name + std::string(" ") + ToString(event->Wait(timeout)));
    });
  }

  // One step at the present time.
  void Run() { runtime.Run(); }

  // Spawns one coroutine and runs a step.
  void Go(std::function<void()> body) {
    Spawn("test", std::move(body));
    Run();
  }

  // Lets time pass, with a step at every moment the runtime asked for. The last moment gets a step
  // only if it was asked for.
  void Advance(Duration duration) {
    const Time end = host.now + duration;
    while (host.wake <= end) {
      host.now = std::max(host.now, std::exchange(host.wake, kNever));
      Run();
    }
    host.now = end;
  }

  ManualHost host;
  Log log;  // of the test: outlives the coroutines that write to it
  HostedRuntime runtime;
};

}  // namespace depfast::testing
