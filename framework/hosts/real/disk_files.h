// DiskFiles: executes disk operations, one batch after another, and tracks which bytes are durable.
//
// The rules; the disk thread (disk.h) does not depend on them:
// - Operations take effect in the given order. An operation with `sync` succeeds only if it and all
//   earlier operations survive a crash.
// - After a change of a file has failed, every later operation fails with the same error until the
//   process ends. So the files stay as a crash at that moment would have left them: nothing is
//   appended behind a torn record, and no log is replaced after its snapshot could not be written.
//   That a file is missing (ENOENT) is no failure in that sense.
// - A failed fdatasync is never repeated. The kernel may have dropped the pages that it could not
//   write, and a second call would report success.
// - A file's new name is made durable only after its contents are durable.
// - The first failure is kept for the host, which takes the replica out of service (real_host.h).
//   That a file cannot be read counts, too.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "depfast/host/host.h"
#include "real/counters.h"
#include "real/disk_failure.h"
#include "real/file_ops.h"

namespace depfast::real {

class DiskFiles {
 public:
  DiskFiles(std::unique_ptr<FileOps> ops, DiskCounters& counters);
  ~DiskFiles();
  DiskFiles(const DiskFiles&) = delete;
  DiskFiles& operator=(const DiskFiles&) = delete;

  // Executes a batch and syncs once for the whole batch. Returns a completion per request, in
  // order.
  [[nodiscard]] std::vector<IoCompletion> Run(std::span<const IoRequest> batch);

  // The first operation that has failed; nothing while none has.
  const std::optional<DiskFailure>& failure() const { return failure_; }

 private:
  struct File {
    int fd = -1;
    bool unsynced = false;  // has changes that no fdatasync has covered
  };

  // The opened file; null and `error` if it cannot be opened.
  [[nodiscard]] File* Find(const std::string& name, bool create, int& error);
  [[nodiscard]] int OpenAndSync(const std::string& name, File& file);
  void Forget(const std::string& name);

  // Each returns an errno, 0 for success.
  [[nodiscard]] int AppendAll(const std::string& name, std::span<const IoRequest> run);
  [[nodiscard]] int Write(File& file, std::vector<iovec> pieces);
  [[nodiscard]] int Read(const IoRequest& request, Bytes& data);
  [[nodiscard]] int ReadBytes(const File& file, const IoRequest& request, Bytes& data);
  [[nodiscard]] int Truncate(const std::string& name, std::uint64_t length);
  [[nodiscard]] int Rename(const std::string& from, const std::string& to);
  [[nodiscard]] int Remove(const std::string& name);
  [[nodiscard]] int RunOne(const IoRequest& request, Bytes& data);
  // Each returns `error`. The first failure is noted, and the first error of a change remembered.
  int Note(DiskOperation operation, const std::string& file, int error);
  int Remember(DiskOperation operation, const std::string& file, int error);

  // These two remember their error, and SyncAll returns it.
  int SyncFile(const std::string& name, File& file);
  int SyncDirectory();
  // Makes all earlier operations durable. Returns the first error, or 0.
  [[nodiscard]] int SyncAll();

  std::unique_ptr<FileOps> ops_;
  DiskCounters& counters_;
  std::map<std::string, File> files_;  // the files opened so far
  bool directory_unsynced_ = true;     // an earlier process may have left an unsynced name
  int broken_ = 0;                     // the errno of the first failed change; 0: none has failed
  std::optional<DiskFailure> failure_;
};

}  // namespace depfast::real
