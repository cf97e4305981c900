// ActivityProbe: a replica's activity, window by window.
//
// It makes the windows, and leaves the judgement to detectors. In a grader both are in different
// processes: the probe of a sealed replica reports its windows, and detectors read the report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
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

  using OnWindow = std::function<void(const ActivityWindow&)>;

  // Windows begin at multiples of `window`; the first one begins with the replica's start.
  // `on_window`, unless it is null, is called once for each window, in their order. A window ends
  // when the probe hears of something later: a replica that does nothing ends no window. Windows
  // without any activity are not left out. Requires: window > 0.
  // `windows_kept`: for Windows and Report.
  explicit ActivityProbe(Duration window = kWindow, OnWindow on_window = nullptr,
                         std::size_t windows_kept = kWindowsMax);

  // Begins the first window, and ends those that are over.
  void Advance(Time now);

  // The windows that have ended by `now`, as far as they are kept.
  std::vector<ActivityWindow> Windows(Time now) const;

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

  void EndWindow();
  PeerActivity& Peer(PeerId peer);
  CoroutineActivity& Waiter(const OpenWait& wait);
  // Null if the probe has not heard of the call's begin.
  PeerActivity* EndCall(const Runtime& runtime, const RpcCall& call);

  Duration length_;
  OnWindow on_window_;
  std::size_t windows_kept_;
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
