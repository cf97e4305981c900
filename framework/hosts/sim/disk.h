// SimDisk: one replica's files, the part of them that a crash would leave, and the time of batches.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/host/random.h"
#include "depfast/time.h"
#include "sim/profile.h"

namespace depfast::sim {

// The time of a batch once the device has turned to it.
struct BatchTime {
  Duration total;   // until its operations take effect
  Duration device;  // of that, the time in which the device is busy: as on a disk without fault
};

// The faults that make changes of files fail.
struct DiskTrouble {
  int error_permille = 0;            // the share of changes that fail
  std::int64_t capacity_bytes = -1;  // of all files together; -1: no limit

  bool any() const { return error_permille > 0 || capacity_bytes >= 0; }
};

// One change of a file, to fail. A short append leaves any first part of its bytes but not all. One
// that is not short leaves all of them: its sync fails.
struct FileChange {
  IoRequest::Kind kind = IoRequest::Kind::kAppend;
  std::string file;  // of a rename, the new name
  bool is_short = false;
  int error = EIO;  // as errno has it: EIO, ENOSPC, EROFS
};

class SimDisk {
 public:
  // `stream` draws the times of syncs. `torn` draws which changes fail, and how much a crash or a
  // failure leaves of a write; it is a stream of its own, so neither changes a later sync.
  SimDisk(const DiskModel& model, RandomStream stream, RandomStream torn)
      : model_(model), stream_(stream), torn_(torn) {}

  struct File {
    std::string data;
    std::size_t durable_bytes = 0;  // that a crash would leave
    // Changes with every change of bytes that is not an append. An incremental reader that sees
    // another generation reads the file from its beginning.
    std::uint64_t generation = 0;
    bool damaged = false;  // FlipBit has hit it
  };
  const std::map<std::string, File>& files() const { return files_; }

  // The bytes of all files, unsynced ones included.
  std::size_t file_bytes() const;

  void Submit(IoRequest request);

  // Submitted, and not in a batch yet; and those of the batch under way.
  const std::vector<IoRequest>& waiting() const { return queue_; }
  const std::vector<IoRequest>& under_way() const { return batch_; }

  bool idle() const { return batch_.empty(); }
  bool has_work() const { return !queue_.empty(); }
  // Bytes submitted and not yet written.
  std::size_t queued_bytes() const { return queued_bytes_; }
  std::size_t queued_operations() const { return queue_.size() + batch_.size(); }

  // Takes everything queued as one batch and returns the batch's time. Requires: idle and
  // has_work. `bytes_per_second` overrides the model's when positive (a slow disk).
  // `operation_delay` is added for each operation (a slow file system).
  BatchTime StartBatch(std::int64_t bytes_per_second, Duration operation_delay = Duration(0));

  // Ends the batch: its operations take effect, in order. A change that fails leaves what a crash
  // in the middle of it would: all changes before it, and of an append any first part. All later
  // operations fail with the same error until Crash, which stands for the replica's restart.
  // `on_rewrite`: called after each truncation, rename and removal that changes a file. A crash
  // could leave the durable bytes as they are then.
  std::vector<IoCompletion> FinishBatch(const DiskTrouble& trouble = {},
                                        const std::function<void()>& on_rewrite = nullptr);
  // The next such change fails. It replaces a change that was to fail and has not come.
  void FailNext(FileChange change) { fails_next_ = std::move(change); }
  // Whether a change has failed since the last Crash.
  bool has_failed() const { return error_ != 0; }

  // Whether FlipBit has hit a file that is still there.
  bool is_damaged() const;

  // Flips a bit of a durable byte. Requires: the file has that byte.
  void FlipBit(const std::string& name, std::size_t byte);

  // Power is lost: queued and unsynced bytes are gone. If a batch is under way, a random number of
  // its first bytes are durable, so a record may be torn.
  void Crash();

 private:
  IoCompletion Apply(const IoRequest& request);
  IoCompletion ApplyInTrouble(const IoRequest& request, const DiskTrouble& trouble);
  // The number of bytes of a failed append that are on disk; none if the change does not fail.
  std::optional<std::size_t> FailsAfter(const IoRequest& request, const DiskTrouble& trouble);
  bool IsToFail(const IoRequest& request) const;
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
  int error_ = 0;  // the errno of the first failed change; 0: none has failed
  std::optional<FileChange> fails_next_;
};

}  // namespace depfast::sim
