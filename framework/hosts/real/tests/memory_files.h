// MemoryFiles: FileOps in memory that know what a power cut would leave, and of which one operation
// can be made to fail.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "real/file_ops.h"

namespace depfast::real {

// Shared by a test and the FileOps that it has made. Any thread may use it.
class MemoryFiles {
 public:
  enum class Kind {
    kOpen,
    kCreate,
    kRead,
    kWrite,
    kShortWrite,
    kSync,
    kTruncate,
    kRename,
    kRemove,
    kSyncDirectory
  };

  // The next operation of this kind fails with this errno; those after it succeed again.
  void FailNext(Kind kind, int error) {
    const std::lock_guard lock(mutex_);
    failing_ = {kind, error};
  }
  bool HasFailed() const {
    const std::lock_guard lock(mutex_);
    return !failing_;
  }

  // The contents of the file after a power cut; empty if it is missing then.
  std::string AfterPowerCut(const std::string& file) const {
    const std::lock_guard lock(mutex_);
    const auto found = durable_names_.find(file);
    return found == durable_names_.end() ? "" : found->second->durable;
  }

  std::unique_ptr<FileOps> Open();

 private:
  class Ops;
  struct File {
    std::string data;
    std::string durable;    // as of the latest sync
    bool has_lost = false;  // a sync has failed: its pages are dropped, and later syncs lie
  };

  // The negated errno if this operation is the one that fails, else 0. Requires: locked.
  int Fails(Kind kind) {
    if (!failing_ || failing_->first != kind) return 0;
    return -std::exchange(failing_, std::nullopt)->second;
  }

  mutable std::mutex mutex_;
  std::optional<std::pair<Kind, int>> failing_;
  std::map<std::string, std::shared_ptr<File>> names_;
  std::map<std::string, std::shared_ptr<File>> durable_names_;
};

class MemoryFiles::Ops final : public FileOps {
 public:
  explicit Ops(MemoryFiles& files) : files_(files) {}

  int Open(const std::string& file, bool create) override {
    const std::lock_guard lock(files_.mutex_);
    const bool exists = files_.names_.contains(file);
    if (exists == create) return create ? -EEXIST : -ENOENT;
    if (const int error = files_.Fails(create ? Kind::kCreate : Kind::kOpen)) return error;
    if (create) files_.names_[file] = std::make_shared<File>();
    opened_[++last_fd_] = files_.names_[file];
    return last_fd_;
  }
  void Close(int fd) override { opened_.erase(fd); }
  std::int64_t Size(int fd) override {
    const std::lock_guard lock(files_.mutex_);
    return static_cast<std::int64_t>(opened_.at(fd)->data.size());
  }
  ssize_t Append(int fd, std::span<const iovec> pieces) override {
    const std::lock_guard lock(files_.mutex_);
    if (const int error = files_.Fails(Kind::kWrite)) return error;
    std::string bytes;
    for (const iovec& piece : pieces) {
      bytes.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    }
    // As on a full disk: a part is written, and then nothing more.
    if (const int error = files_.Fails(Kind::kShortWrite)) {
      files_.failing_ = {Kind::kWrite, -error};
      bytes.resize(bytes.size() / 2);
    }
    opened_.at(fd)->data += bytes;
    return static_cast<ssize_t>(bytes.size());
  }
  ssize_t Read(int fd, char* to, std::size_t bytes, std::uint64_t offset) override {
    const std::lock_guard lock(files_.mutex_);
    if (const int error = files_.Fails(Kind::kRead)) return error;
    return static_cast<ssize_t>(opened_.at(fd)->data.copy(to, bytes, offset));
  }
  int Truncate(int fd, std::uint64_t length) override {
    const std::lock_guard lock(files_.mutex_);
    if (const int error = files_.Fails(Kind::kTruncate)) return error;
    opened_.at(fd)->data.resize(length);
    return 0;
  }
  int Sync(int fd) override {
    const std::lock_guard lock(files_.mutex_);
    File& file = *opened_.at(fd);
    const int error = files_.Fails(Kind::kSync);
    file.has_lost |= error != 0;
    if (!file.has_lost) file.durable = file.data;
    return error;
  }
  int Rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(files_.mutex_);
    if (!files_.names_.contains(from)) return -ENOENT;
    if (const int error = files_.Fails(Kind::kRename)) return error;
    files_.names_[to] = files_.names_[from];
    files_.names_.erase(from);
    return 0;
  }
  int Remove(const std::string& file) override {
    const std::lock_guard lock(files_.mutex_);
    if (!files_.names_.contains(file)) return -ENOENT;
    if (const int error = files_.Fails(Kind::kRemove)) return error;
    files_.names_.erase(file);
    return 0;
  }
  int SyncDirectory() override {
    const std::lock_guard lock(files_.mutex_);
    if (const int error = files_.Fails(Kind::kSyncDirectory)) return error;
    files_.durable_names_ = files_.names_;
    return 0;
  }

 private:
  MemoryFiles& files_;
  int last_fd_ = 100;
  std::map<int, std::shared_ptr<File>> opened_;
};

inline std::unique_ptr<FileOps> MemoryFiles::Open() { return std::make_unique<Ops>(*this); }

}  // namespace depfast::real
