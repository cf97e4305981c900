// PromisedFiles: FileOps that write down their promises. At the start they notice a lost promise: a
// file that is missing, cut off, or changed.
//
// A promise is the answer to a successful sync: the replica may act on it, and then others count on
// the bytes. So the manifest (manifest.h) says what each file holds before that answer is given. At
// the start each file must begin with the bytes that were promised. The bytes behind them were
// never acknowledged: a crash may have torn them, and the replica's own recovery looks at them.
//
// The rules:
// - A promise is written after the sync of the file, and after that of its name. So the manifest
//   never says more than the disk holds, whatever a crash or a power cut leaves of both.
// - The manifest announces each truncation, replacement and removal, durably, before it happens. So
//   the manifest never insists on bytes that the replica itself has given up.
// - It announces the new name of a promised file likewise. So promised bytes have a name in it.
// - A promise alone is written without a sync of its own: each write would cost double. The death
//   of a process loses no promise. A power cut may lose the latest ones. Then a loss of the latest
//   bytes looks like a torn write; all older bytes are still checked.
//
// A directory without a manifest belongs to no replica: somebody has wiped it, or never made it.
// A whole older directory that is restored, manifest included, is not found out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "real/file_ops.h"
#include "real/manifest.h"

namespace depfast::real {

class PromisedFiles final : public FileOps {
 public:
  // A manifest that has grown so large is written anew.
  static constexpr std::size_t kManifestBytesMax = std::size_t{256} << 10;

  // Writes the first manifest into an empty directory. Throws std::system_error if it cannot, for
  // example because the directory has one.
  static void Format(FileOps& ops, const Identity& identity);

  // Takes from the directory of `ops` what a power cut may take: the bytes of each file behind
  // those that it promised last, and the files whose names were never promised. `names`: those of
  // all its files. Another call changes nothing. Throws LostPromise before any change, if there is
  // no manifest or a promise is lost, and std::system_error if a file cannot be read or cut.
  static void LoseUnsynced(FileOps& ops, const std::vector<std::string>& names);

  // Opens the directory of `ops`, and makes all that is in the promised files durable. Throws
  // LostPromise if the directory is not that of `expected`, or a promise is lost, and
  // std::system_error if a file cannot be read.
  PromisedFiles(std::unique_ptr<FileOps> ops, const Identity& expected);
  ~PromisedFiles() override;

  int Open(const std::string& file, bool create) override;
  void Close(int fd) override;
  std::int64_t Size(int fd) override { return ops_->Size(fd); }
  ssize_t Append(int fd, std::span<const iovec> pieces) override;
  ssize_t Read(int fd, char* to, std::size_t bytes, std::uint64_t offset) override {
    return ops_->Read(fd, to, bytes, offset);
  }
  int Truncate(int fd, std::uint64_t length) override;
  int Sync(int fd) override;
  int Rename(const std::string& from, const std::string& to) override;
  int Remove(const std::string& file) override;
  int SyncDirectory() override;

 private:
  struct File;

  void ReadManifest(const Identity& expected);

  // These return an errno, negated, or 0. A manifest that could not be written is not written
  // again.
  [[nodiscard]] int Say(const std::string& records);
  [[nodiscard]] int SayDurably(const std::string& records);
  // Nothing is said of the name any more, durably, if it has gone.
  [[nodiscard]] int ForgetIfGone(const std::string& name);
  [[nodiscard]] int SayPromises();
  [[nodiscard]] int RewriteManifest();
  bool IsManifestExact() const;

  std::unique_ptr<FileOps> ops_;
  Identity identity_;
  std::map<std::string, std::shared_ptr<File>>
      names_;                                    // that were opened or are promised, and exist
  std::map<int, std::shared_ptr<File>> opened_;  // by descriptor
  std::set<std::string> promised_;               // the names of which the manifest says anything
  std::set<std::string> gone_;   // those of which a power cut may bring back what it said
  bool names_unsynced_ = false;  // a name has changed since SyncDirectory
  int manifest_fd_ = -1;
  std::size_t manifest_bytes_ = 0;
  int broken_ = 0;  // the negated errno of a manifest that could not be written
};

}  // namespace depfast::real
