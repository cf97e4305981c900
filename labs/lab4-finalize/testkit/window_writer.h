// WindowWriter: makes the windows of a replica that calls its peers, and tells who is slow in each.
//
//   WindowWriter writer(seed, {{1, 2ms}, {2, 2ms}, {3, 40ms}});
//   writer.Add({.windows = 30});
//   writer.Add({.windows = 3, .slow = {{2, 1000}}});  // peer 2 takes ten times as long
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/peer.h"
#include "depfast/time.h"
#include "depfast/verify/activity.h"

namespace depfast::lab4 {

inline constexpr Duration kPlantedWindow = 500ms;

// Some windows alike. All shares are in percent.
struct Stretch {
  int windows = 1;
  int calls = 60;           // to each peer in each window; they end there, but for a tenth
  std::int64_t load = 100;  // the waits for all peers, of the usual ones
  // The waits for these peers, of those under this load. From kSpike on they are slow.
  std::map<PeerId, std::int64_t> slow = {};
  // These peers do not answer, and are slow, also in the window in which they answer again.
  std::set<PeerId> silent = {};
  Duration patience = kForever;     // after this time the calls to silent peers are released
  std::set<PeerId> idle = {};       // these peers are not called
  std::map<PeerId, int> busy = {};  // to these peers, this number of calls instead
  int noise = 10;                   // the waits of a window differ from the plan by up to this
  // The waits so far for these peers of the calls that are open at the window's end, of those of
  // the calls that have ended. They are slow if the mean of both is from kSpike on.
  std::map<PeerId, std::int64_t> lingering = {};
  // One call to these peers takes longer by this.
  std::map<PeerId, Duration> outliers = {};
};

inline constexpr std::int64_t kSpike = 500;

struct PlantedWindow {
  ActivityWindow window;
  std::vector<PeerId> spikes;  // ascending: the slow peers with evidence, beyond their warm-up
};

class WindowWriter {
 public:
  // `usual`: the mean wait for each peer at a load of 100 %.
  WindowWriter(std::uint64_t seed, std::map<PeerId, Duration> usual)
      : random_(seed), usual_(std::move(usual)) {}

  void Add(const Stretch& stretch);

  const std::vector<PlantedWindow>& windows() const { return windows_; }

 private:
  PeerActivity Answering(PeerId peer, const Stretch& stretch);
  PeerActivity Silent(PeerId peer, const Stretch& stretch);
  bool IsSlow(PeerId peer, const Stretch& stretch) const;
  // The slow peers of the window that a detector must name.
  std::vector<PeerId> Spikes(const ActivityWindow& window, const std::set<PeerId>& slow);
  // The wait differs from `mean` by up to a half.
  Duration Draw(Duration mean);

  RandomStream random_;
  const std::map<PeerId, Duration> usual_;
  std::vector<PlantedWindow> windows_;
  std::map<PeerId, WaitTimes> unanswered_;  // at the end of the latest window: of silent peers
  std::map<PeerId, std::size_t> learned_;   // windows that are evidence and no spike
};

}  // namespace depfast::lab4
