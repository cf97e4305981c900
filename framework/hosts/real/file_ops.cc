#include "real/file_ops.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "real/descriptor.h"
#include "real/reclaimer.h"

namespace depfast::real {
namespace {

template <typename T>
T OrError(T result) {
  return result < 0 ? static_cast<T>(-errno) : result;
}

class DirectoryOps final : public FileOps {
 public:
  explicit DirectoryOps(Descriptor directory) : directory_(std::move(directory)) {}

  int Open(const std::string& file, bool create) override {
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0);
    return OrError(openat(directory_.get(), file.c_str(), flags, 0644));
  }
  void Close(int fd) override {
    Descriptor file(fd);
    struct stat status = {};
    const bool is_nameless = fstat(fd, &status) == 0 && status.st_nlink == 0;
    if (is_nameless && status.st_size > Reclaimer::kStepBytes) nameless_.push_back(std::move(file));
  }
  std::int64_t Size(int fd) override {
    struct stat status = {};
    return fstat(fd, &status) == 0 ? status.st_size : -errno;
  }
  ssize_t Append(int fd, std::span<const iovec> pieces) override {
    return OrError(writev(fd, pieces.data(), static_cast<int>(pieces.size())));
  }
  ssize_t Read(int fd, char* to, std::size_t bytes, std::uint64_t offset) override {
    return OrError(pread(fd, to, bytes, static_cast<off_t>(offset)));
  }
  int Truncate(int fd, std::uint64_t length) override {
    return OrError(ftruncate(fd, static_cast<off_t>(length)));
  }
  int Sync(int fd) override { return OrError(fdatasync(fd)); }
  int Rename(const std::string& from, const std::string& to) override {
    return OrError(renameat(directory_.get(), from.c_str(), directory_.get(), to.c_str()));
  }
  int Remove(const std::string& file) override {
    return OrError(unlinkat(directory_.get(), file.c_str(), 0));
  }
  int SyncDirectory() override {
    if (fsync(directory_.get()) != 0) return -errno;
    // A power cut cannot bring their names back any more.
    for (Descriptor& file : std::exchange(nameless_, {})) reclaimer_.Free(std::move(file));
    return 0;
  }
  int Reserve(int fd, std::uint64_t bytes) override {
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return 0;
    return errno == EOPNOTSUPP ? 0 : -errno;
  }

 private:
  Descriptor directory_;              // holds the lock
  std::vector<Descriptor> nameless_;  // large files that lost their names since SyncDirectory
  Reclaimer reclaimer_;
};

Descriptor OpenDirectory(const std::string& path) {
  return Checked(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                 "cannot open data directory '" + path + "'");
}

// Makes the names of a new directory and of its new parents durable.
void CreateDirectory(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  if (!parent.empty() && !std::filesystem::exists(parent)) CreateDirectory(parent);
  if (mkdir(path.c_str(), 0755) != 0) {
    if (errno == EEXIST) return;
    ThrowErrno("cannot create data directory '" + path.string() + "'");
  }
  const auto directory = OpenDirectory(parent.empty() ? "." : parent.string());
  if (fsync(directory.get()) != 0) ThrowErrno("cannot sync '" + parent.string() + "'");
}

}  // namespace

std::unique_ptr<FileOps> OpenDataDirectory(const std::string& path) {
  auto normal = std::filesystem::absolute(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();  // "dir/" is "dir"
  CreateDirectory(normal);
  auto directory = OpenDirectory(path);
  if (flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      throw std::system_error(errno, std::generic_category(),
                              "data directory '" + path + "' is in use by another replica");
    }
    ThrowErrno("cannot lock data directory '" + path + "'");
  }
  return std::make_unique<DirectoryOps>(std::move(directory));
}

}  // namespace depfast::real
