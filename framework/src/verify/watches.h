// Watches: the detectors with which a replica watches itself (Runtime::Watch).
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "depfast/runtime.h"
#include "depfast/verify/activity_probe.h"
#include "depfast/verify/detector.h"

namespace depfast {

class Watches {
 public:
  using OnFinding = std::function<void(const Finding&)>;

  // Hears of everything in `runtime` from now on. Requires: `runtime` outlives this, and runs a
  // step.
  explicit Watches(Runtime& runtime);
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  void Add(std::unique_ptr<Detector> detector, OnFinding on_finding);

 private:
  struct Watch {
    std::unique_ptr<Detector> detector;
    OnFinding on_finding;
  };

  // Asks for a step at the end of the window under way.
  void AwaitWindow();
  void ShowWindows();
  void Show(Watch& watch, const ActivityWindow& window);

  Runtime& runtime_;
  std::deque<ActivityWindow> windows_;  // ended, and not shown yet
  ActivityProbe probe_;
  std::deque<Watch> watches_;  // coroutines refer to them
};

}  // namespace depfast
