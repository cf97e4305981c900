// MemoryFiles: FileOps in memory that know what a power cut would leave. One operation can be made
// to fail, and the process that uses them can die at any operation.
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
#include <vector>

#include "depfast/host/random.h"
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

  // The process dies after `operations` more: later ones have no effect, and fail. The
  // last write may be done in part.
  void StopAfter(std::uint64_t operations) {
    const std::lock_guard lock(mutex_);
    operations_left_ = operations;
  }
  bool HasStopped() const {
    const std::lock_guard lock(mutex_);
    return operations_left_ == 0;
  }

  // The next process finds what a death, or a power cut, has left. A power cut may take back the
  // latest changes of each file since its latest sync, and of the names since theirs.
  void Restart(bool power_cut, RandomStream& random) {
    const std::lock_guard lock(mutex_);
    operations_left_.reset();
    failing_.reset();
    for (auto& [name, file] : names_) file->has_lost = false;  // a dead process's sync is no sync
    if (power_cut) names_ = name_versions_[random.Below(name_versions_.size())];
    if (!power_cut) return;
    for (auto& [name, file] : names_) {
      file->data = file->AnyVersion(random);
      file->versions = {file->data};
    }
    name_versions_ = {names_};
  }

  // For a test that damages a file. Requires: the file is there.
  std::string Contents(const std::string& file) const {
    const std::lock_guard lock(mutex_);
    return names_.at(file)->data;
  }
  std::vector<std::string> Names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, file] : names_) names.push_back(name);
    return names;
  }
  void Change(const std::string& file, const std::string& contents) {
    const std::lock_guard lock(mutex_);
    names_.at(file)->data = contents;
  }
  void Lose(const std::string& file) {
    const std::lock_guard lock(mutex_);
    names_.erase(file);
  }
  void LoseAll() {
    const std::lock_guard lock(mutex_);
    names_.clear();
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
    // The contents at the latest sync, and before and after each truncation since then, in order.
    std::vector<std::string> versions = {""};

    // The bytes that a power cut may leave. Of appended bytes, the first ones.
    std::string AnyVersion(RandomStream& random) const {
      auto all = versions;
      all.push_back(data);
      const std::size_t last = random.Below(all.size());
      if (last == 0 || !all[last].starts_with(all[last - 1])) return all[last];
      const std::size_t before = all[last - 1].size();
      return all[last].substr(0, before + random.Below(all[last].size() - before + 1));
    }
  };

  // The negated errno if this operation is the one that fails, else 0. Requires: locked.
  int Fails(Kind kind) {
    if (operations_left_ == std::uint64_t{0}) return -EIO;
    if (operations_left_) --*operations_left_;
    if (!failing_ || failing_->first != kind) return 0;
    return -std::exchange(failing_, std::nullopt)->second;
  }

  mutable std::mutex mutex_;
  std::optional<std::pair<Kind, int>> failing_;
  std::optional<std::uint64_t> operations_left_;  // until the process dies
  std::map<std::string, std::shared_ptr<File>> names_;
  std::map<std::string, std::shared_ptr<File>> durable_names_;
  // The names since their latest sync, in order.
  std::vector<std::map<std::string, std::shared_ptr<File>>> name_versions_ = {{}};
};

class MemoryFiles::Ops final : public FileOps {
 public:
  explicit Ops(MemoryFiles& files) : files_(files) {}

  int Open(const std::string& file, bool create) override {
    const std::lock_guard lock(files_.mutex_);
    const bool exists = files_.names_.contains(file);
    if (exists == create) return create ? -EEXIST : -ENOENT;
    if (const int error = files_.Fails(create ? Kind::kCreate : Kind::kOpen)) return error;
    if (create) {
      files_.names_[file] = std::make_shared<File>();
      files_.name_versions_.push_back(files_.names_);
    }
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
    // A full disk takes a part, and then nothing more.
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
    File& file = *opened_.at(fd);
    file.versions.push_back(file.data);
    file.data.resize(length);
    file.versions.push_back(file.data);
    return 0;
  }
  int Sync(int fd) override {
    const std::lock_guard lock(files_.mutex_);
    File& file = *opened_.at(fd);
    const int error = files_.Fails(Kind::kSync);
    file.has_lost |= error != 0;
    if (!file.has_lost) file.durable = file.data;
    if (!file.has_lost && error == 0) file.versions = {file.data};
    return error;
  }
  int Rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(files_.mutex_);
    if (!files_.names_.contains(from)) return -ENOENT;
    if (const int error = files_.Fails(Kind::kRename)) return error;
    files_.names_[to] = files_.names_[from];
    if (from != to) files_.names_.erase(from);
    files_.name_versions_.push_back(files_.names_);
    return 0;
  }
  int Remove(const std::string& file) override {
    const std::lock_guard lock(files_.mutex_);
    if (!files_.names_.contains(file)) return -ENOENT;
    if (const int error = files_.Fails(Kind::kRemove)) return error;
    files_.names_.erase(file);
    files_.name_versions_.push_back(files_.names_);
    return 0;
  }
  int SyncDirectory() override {
    const std::lock_guard lock(files_.mutex_);
    if (const int error = files_.Fails(Kind::kSyncDirectory)) return error;
    files_.durable_names_ = files_.names_;
    files_.name_versions_ = {files_.names_};
    return 0;
  }

 private:
  MemoryFiles& files_;
  int last_fd_ = 100;
  std::map<int, std::shared_ptr<File>> opened_;
};

inline std::unique_ptr<FileOps> MemoryFiles::Open() { return std::make_unique<Ops>(*this); }

}  // namespace depfast::real
