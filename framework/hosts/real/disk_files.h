// DiskFiles: carries out disk operations, one batch after another, and knows what is durable.
//
// The rules, which the thread around it (disk.h) does not have to know:
// - Operations take effect in the order given. One with `sync` succeeds only if it and everything
//   before it survives a crash.
// - An append that fails, short writes included, leaves the file broken: nothing may be appended
//   behind a torn record. A truncation repairs it.
// - A failed fdatasync is never repeated: the kernel may have dropped the very pages it could not
//   write, and a second call would say that all is well. The file stays broken until it is removed
//   or replaced.
// - While a file is broken nothing after it is durable: every operation with `sync` fails.
// - A file's new name is made durable only after its contents are.
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

  // Carries a batch out and syncs once for all of it. Returns a completion per request, in order.
  std::vector<IoCompletion> Run(std::span<const IoRequest> batch);

 private:
  struct File {
    int fd = -1;
    bool unsynced = false;  // has changes that no fdatasync has covered
    int broken = 0;         // the errno that broke it; 0 if sound
    bool lost = false;      // broken by a failed fdatasync: no truncation repairs that
  };

  // The file, opened; null and `error` if that fails.
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
  // Makes everything so far durable. The first reason why it is not, or 0.
  int SyncAll();

  std::unique_ptr<FileOps> ops_;
  DiskCounters& counters_;
  std::map<std::string, File> files_;  // those opened so far
  bool directory_unsynced_ = true;     // an earlier life may have left a name that is not durable
  int directory_broken_ = 0;
};

}  // namespace depfast::real
