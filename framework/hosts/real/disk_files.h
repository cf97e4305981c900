// DiskFiles: executes disk operations, one batch after another, and tracks which bytes are durable.
//
// The rules; the disk thread (disk.h) does not depend on them:
// - Operations take effect in the given order. An operation with `sync` succeeds only if it and all
//   earlier operations survive a crash.
// - A failed append, short writes included, breaks the file: nothing may be appended behind a torn
//   record. A truncation repairs the file.
// - A failed fdatasync is never repeated. The kernel may have dropped the pages that it could not
//   write, and a second call would report success. The file stays broken until it is removed or
//   replaced.
// - While a file is broken, every later operation with `sync` fails.
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
    int broken = 0;         // the errno that broke the file; 0 if intact
    bool lost = false;      // broken by a failed fdatasync: a truncation does not repair it
  };

  // The opened file; null and `error` if it cannot be opened.
  File* Find(const std::string& name, bool create, int& error);
  int OpenAndSync(const std::string& name, File& file);
  void Forget(const std::string& name);

  // Each returns an errno, 0 for success.
  int AppendAll(const std::string& name, std::span<const IoRequest> run);
  int Write(File& file, std::vector<iovec> pieces);
  int Read(const std::string& name, Bytes& data);
  int Truncate(const std::string& name, std::uint64_t length);
  int Rename(const std::string& from, const std::string& to);
  int Remove(const std::string& name);
  int RunOne(const IoRequest& request, Bytes& data);

  int SyncFile(File& file);
  int SyncDirectory();
  // Makes all earlier operations durable. Returns the first error, or 0.
  int SyncAll();

  std::unique_ptr<FileOps> ops_;
  DiskCounters& counters_;
  std::map<std::string, File> files_;  // the files opened so far
  bool directory_unsynced_ = true;     // an earlier process may have left an unsynced name
  int directory_broken_ = 0;
};

}  // namespace depfast::real
