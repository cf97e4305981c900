// Shows planted streams to the detector it is compiled with.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planted_streams.h"

namespace depfast::adr {

class WatchedStream;

// The streams of the latest request. Their detectors live until the next streams, so that a test
// can look at the replica's heap.
class StreamWatcher {
 public:
  StreamWatcher();
  ~StreamWatcher();

  PlantedReport Watch(const WatchStreams& request);

 private:
  std::uint32_t number_ = 0;
  std::vector<std::unique_ptr<WatchedStream>> streams_;
};

}  // namespace depfast::adr
