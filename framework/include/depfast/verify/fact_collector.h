// FactCollector: the probe of runtime verification. It collects a replica's WindowFacts.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/host/probe.h"
#include "depfast/verify/window_facts.h"

namespace depfast {

class FactCollector final : public ReportingProbe {
 public:
  static constexpr const char* kName = "verification";  // see MakeProbe

  // Keeps this number of the latest windows for a report.
  static constexpr std::size_t kWindowsMax = 64;

  // Calls `on_window` with each window that is over, at the first event after it, instead of
  // keeping it for a report.
  using OnWindow = std::function<void(const WindowFacts&)>;
  explicit FactCollector(OnWindow on_window = nullptr);
  ~FactCollector() override;

  // The windows kept, and the one under way up to now.
  std::string Report(const Runtime& runtime) const override;
  // The windows of a report, the oldest first; nothing if it is malformed or not
  // plausible (IsPlausible).
  static std::optional<std::vector<WindowFacts>> Read(std::string_view report);

  void OnStart(const Runtime& runtime) override;
  void OnEnd(const Runtime& runtime, const Task& task) override;
  void OnCall(const Runtime& runtime, const Task& caller, const RpcCall& call) override;
  void OnReply(const Runtime& runtime, const RpcCall& call) override;
  void OnRelease(const Runtime& runtime, const RpcCall& call) override;
  void OnRequest(const Runtime& runtime, PeerId peer, const Dependency& dependency) override;
  void OnAnswer(const Runtime& runtime, PeerId peer, const Dependency& dependency) override;
  void OnWait(const Runtime& runtime, const Task& task, const Event& event) override;
  void OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                 Outcome outcome) override;
  bool WantsUsage() const override { return false; }
  void OnIdle(const Runtime& runtime) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace depfast
