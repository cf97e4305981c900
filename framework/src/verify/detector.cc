#include "depfast/verify/detector.h"

#include <stdexcept>

namespace depfast {

void Detectors::Register(const std::string& name, std::unique_ptr<Detector> detector) {
  for (const auto& [taken, other] : detectors_) {
    if (taken == name) throw std::invalid_argument("there is a detector '" + name + "' already");
  }
  detectors_.emplace_back(name, std::move(detector));
}

std::vector<DetectorFinding> Detectors::OnWindow(const ActivityWindow& window) {
  std::vector<DetectorFinding> all;
  for (const auto& [name, detector] : detectors_) {
    for (Finding& finding : detector->OnWindow(window)) {
      all.push_back({name, window.from_ns, window.to_ns, std::move(finding)});
    }
  }
  return all;
}

}  // namespace depfast
