#include "watch_windows.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "wait_spike_detector.h"

namespace depfast::lab4 {
namespace {

std::vector<PeerId> PeersOf(const std::vector<Finding>& findings) {
  std::vector<PeerId> peers;
  for (const Finding& finding : findings) peers.push_back(finding.peer);
  return peers;
}

}  // namespace

WatchReport Watch(const WatchWindows& request) {
  const std::size_t streams = request.streams.size();
  std::size_t windows = 0;
  for (const auto& stream : request.streams) windows = std::max(windows, stream.size());
  std::vector<WaitSpikeDetector> detectors(streams);
  WatchReport report;
  report.found.resize(streams);
  for (std::size_t window = 0; window < windows; ++window) {
    for (std::size_t i = 0; i < streams; ++i) {
      if (window >= request.streams[i].size()) continue;
      report.found[i].push_back(PeersOf(detectors[i].OnWindow(request.streams[i][window])));
    }
  }
  return report;
}

}  // namespace depfast::lab4
