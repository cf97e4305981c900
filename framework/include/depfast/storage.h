// Storage: a replica's files, reached only through events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "depfast/disk_event.h"
#include "depfast/host/host.h"

namespace depfast {

// Operations take effect in the order of the calls. Nothing is durable before the event of an
// operation that syncs is ready; then everything before it is, too. Truncate, Rename and Remove
// always sync. Append creates a file that is missing; the others fail then, with ENOENT.
//
// After a change of a file has failed, all later operations fail, too, until the replica restarts:
// the files stay as a crash at that moment would have left them. Of the failed write any first part
// may be there, even the whole. A missing file (ENOENT) is no failure in that sense. A replica on
// real disks does not live to see a failure: its host ends it (hosts/real/real_host.h).
//
// Waiting is up to the caller: start the write, send the messages, then wait for both, so that the
// disk works while the network does.
class Storage {
 public:
  explicit Storage(Host& host) : host_(host) {}

  enum class Sync : bool { kNo = false, kYes = true };

  [[nodiscard]] std::shared_ptr<DiskEvent> Append(const std::string& file, std::string data,
                                                  Sync sync);
  // Reads `length` bytes from `offset` on. Fewer if the file ends before, none if it ends at
  // `offset` or before.
  [[nodiscard]] std::shared_ptr<DiskEvent> Read(const std::string& file, std::uint64_t offset = 0,
                                                std::uint64_t length = IoRequest::kToTheEnd);
  [[nodiscard]] std::shared_ptr<DiskEvent> Truncate(const std::string& file, std::uint64_t length);
  [[nodiscard]] std::shared_ptr<DiskEvent> Rename(const std::string& from, const std::string& to);
  [[nodiscard]] std::shared_ptr<DiskEvent> Remove(const std::string& file);

  // Called by the runtime with each completion of the host. Unknown ids (an operation of an earlier
  // incarnation) are ignored.
  void Deliver(IoCompletion completion);

  std::size_t in_flight() const { return in_flight_.size(); }

 private:
  [[nodiscard]] std::shared_ptr<DiskEvent> Submit(IoRequest request);

  Host& host_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, std::shared_ptr<DiskEvent>> in_flight_;  // by request id
};

}  // namespace depfast
