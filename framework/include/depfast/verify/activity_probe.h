// ActivityProbe: a replica's activity, window by window.
//
// It makes the windows, and leaves the judgement to detectors. In a grader both are in different
// processes: the probe of a sealed replica reports its windows, and detectors read the report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depfast/host/probe.h"
#include "depfast/verify/activity.h"

namespace depfast {

class ActivityProbe final : public ReportingProbe {
 public:
  static constexpr const char* kName = "activity";  // see MakeProbe
  // Half a second has several heartbeats and, under load, hundreds of calls.
  static constexpr Duration kWindow = 500ms;
  // A report holds the latest windows, at most this number.
  static constexpr std::size_t kWindowsMax = 1000;

  // Windows begin at multiples of `window`; the first one begins with the replica's start. Windows
  // without any activity are not left out. Requires: window > 0.
  explicit ActivityProbe(Duration window = kWindow);

  // The windows that have ended by now.
  std::string Report(const Runtime& runtime) const override;
  // The windows of a report; nothing if it is malformed.
  static std::optional<std::vector<ActivityWindow>> Read(std::string_view report);

  void OnStart(const Runtime& runtime) override;
  void OnCall(const Runtime& runtime, const Task& caller, const RpcCall& call) override;
  void OnReply(const Runtime& runtime, const RpcCall& call) override;
  void OnRelease(const Runtime& runtime, const RpcCall& call) override;
  void OnWait(const Runtime& runtime, const Task& task, const Event& event) override;
  void OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                 Outcome outcome) override;
  void OnStepEnd(const Runtime& runtime, const StepUsage& usage) override;

 private:
  struct OpenWait {
    std::string coroutine;
    std::string event;
    Time since{0};
  };

  // Begins the first window, and ends those that are over.
  void Advance(Time now);
  void EndWindow();
  PeerActivity& Peer(PeerId peer);
  CoroutineActivity& Waiter(const OpenWait& wait);
  PeerActivity& EndCall(const Runtime& runtime, const RpcCall& call);

  Duration length_;
  std::deque<ActivityWindow> ended_;

  // The window under way; its end is 0 before the first. Its vectors are made of the maps at its
  // end.
  ActivityWindow window_;
  std::map<PeerId, PeerActivity> peers_;
  std::map<std::pair<std::string, std::string>, CoroutineActivity> coroutines_;

  std::map<std::pair<PeerId, CallId>, Time> open_calls_;
  std::map<std::uint64_t, OpenWait> open_waits_;  // by the coroutine's id
};

}  // namespace depfast
