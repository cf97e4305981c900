// SaucrMarks: the marks of a recorded run, on the lanes of its replicas: changes of mode, flushes,
// markers, and recoveries.
#pragma once

#include <vector>

#include "saucr_checker.h"
#include "saucr_types.h"
#include "testkit/cluster.h"

namespace depfast::saucr {

class SaucrMarks : private sim::Observer {
 public:
  // Marks nothing unless the run is recorded. Requires: called before the cluster starts, and after
  // the checker was made, which reads the disks. Both outlive the cluster's last event.
  SaucrMarks(testkit::Cluster& cluster, const SaucrChecker& checker);

 private:
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) override;
  void Mark(PeerId replica, Time at, const std::string& text, const std::string& vote = "");

  testkit::Cluster& cluster_;
  const SaucrChecker& checker_;
  std::vector<Markers> markers_;  // by replica, as marked last
};

}  // namespace depfast::saucr
