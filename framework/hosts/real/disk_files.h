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
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "depfast/host/host.h"
#include "real/counters.h"
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
  std::vector<IoCompletion> Run(std::span<const IoRequest> batch);

 private:
  struct File {
    int fd = -1;
    bool unsynced = false;  // has changes that no fdatasync has covered
  };

  // The opened file; null and `error` if it cannot be opened.
  File* Find(const std::string& name, bool create, int& error);
  int OpenAndSync(const std::string& name, File& file);
  void Forget(const std::string& name);

  // Each returns an errno, 0 for success.
  int AppendAll(const std::string& name, std::span<const IoRequest> run);
  int Write(File& file, std::vector<iovec> pieces);
  int Read(const IoRequest& request, Bytes& data);
  int Truncate(const std::string& name, std::uint64_t length);
  int Rename(const std::string& from, const std::string& to);
  int Remove(const std::string& name);
  int RunOne(const IoRequest& request, Bytes& data);
  // Returns `error`. The first error of a change is remembered.
  int Remember(int error);

  int SyncFile(File& file);
  int SyncDirectory();
  // Makes all earlier operations durable. Returns the first error, or 0.
  int SyncAll();

  std::unique_ptr<FileOps> ops_;
  DiskCounters& counters_;
  std::map<std::string, File> files_;  // the files opened so far
  bool directory_unsynced_ = true;     // an earlier process may have left an unsynced name
  int broken_ = 0;                     // the errno of the first failed change; 0: none has failed
};

}  // namespace depfast::real
