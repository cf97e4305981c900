#include "verify/watches.h"

#include <cassert>
#include <utility>

#include "core/scheduler.h"

namespace depfast {

Watches::Watches(Runtime& runtime)
    : runtime_(runtime),
      probe_(
          ActivityProbe::kWindow,
          [this](const ActivityWindow& window) { windows_.push_back(window); },
          /*windows_kept=*/0) {
  probe_.Advance(runtime_.Now());
  runtime_.scheduler().AddProbe(&probe_);
  AwaitWindow();
}

void Watches::Add(std::unique_ptr<Detector> detector, OnFinding on_finding) {
  assert(detector != nullptr && on_finding != nullptr);
  watches_.push_back({std::move(detector), std::move(on_finding)});
}

// A timer, and no coroutine: its wait would be a part of what the detectors see.
void Watches::AwaitWindow() {
  const Time end = (runtime_.Now() / ActivityProbe::kWindow + 1) * ActivityProbe::kWindow;
  runtime_.scheduler().AddTimer(end, [this] {
    ShowWindows();
    AwaitWindow();
  });
}

void Watches::ShowWindows() {
  probe_.Advance(runtime_.Now());
  while (!windows_.empty()) {
    const ActivityWindow window = std::move(windows_.front());
    windows_.pop_front();
    for (Watch& watch : watches_) Show(watch, window);
  }
}

void Watches::Show(Watch& watch, const ActivityWindow& window) {
  for (Finding& finding : watch.detector->OnWindow(window)) {
    runtime_.Spawn("on finding",
                   [&watch, finding = std::move(finding)] { watch.on_finding(finding); });
  }
}

}  // namespace depfast
