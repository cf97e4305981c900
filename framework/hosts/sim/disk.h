// SimDisk: one replica's files, what of them would survive a crash, and the time it all takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/host/random.h"
#include "depfast/time.h"
#include "sim/profile.h"

namespace depfast::sim {

// How long a batch takes once the device has turned to it.
struct BatchTime {
  Duration total;   // until its operations take effect
  Duration device;  // of that, what keeps the device from others: the time on a disk without fault
  bool grows = false;  // an append begins a new block of its file
  bool names = false;  // a file is created, renamed or removed
};

class SimDisk {
 public:
  // `torn`: draws how much of a batch a crash leaves; a stream of its own, so that a crash changes
  // no later sync.
  SimDisk(const DiskModel& model, RandomStream stream, RandomStream torn)
      : model_(model), stream_(stream), torn_(torn) {}

  // What a file holds, and how much of it a crash would leave.
  struct File {
    std::string data;
    std::size_t durable_bytes = 0;
    // Changes whenever bytes do in another way than by appending: whoever reads incrementally
    // starts anew.
    std::uint64_t generation = 0;
  };
  const std::map<std::string, File>& files() const { return files_; }

  void Submit(IoRequest request);

  bool idle() const { return batch_.empty(); }
  bool has_work() const { return !queue_.empty(); }
  // Bytes submitted and not yet written.
  std::size_t queued_bytes() const { return queued_bytes_; }

  // Takes everything queued as one batch and returns how long it will take. Requires: idle and
  // has_work. `bytes_per_second` overrides the model's when positive (a slow disk).
  BatchTime StartBatch(std::int64_t bytes_per_second);

  // Ends the batch: its operations take effect, in order.
  std::vector<IoCompletion> FinishBatch();

  // Power is lost: what is queued or unsynced is gone. Of a batch in flight the disk has done a
  // part, in order: its first bytes, so many as it happens, are durable, and a record may be torn.
  void Crash();

 private:
  bool BatchGrows() const;
  bool BatchNames() const;
  IoCompletion Apply(const IoRequest& request);
  void TearBatch();
  void MakeDurable();

  DiskModel model_;
  RandomStream stream_;
  RandomStream torn_;
  std::map<std::string, File> files_;
  std::vector<IoRequest> queue_;
  std::vector<IoRequest> batch_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t last_generation_ = 0;
};

}  // namespace depfast::sim
