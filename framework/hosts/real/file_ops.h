// FileOps: the disk thread's system calls behind an interface, so that tests can make them fail.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace depfast::real {

// All files are in one directory. Every function returns the result of its system call, or the
// negated errno: errors are return values, not exceptions. Called from one thread at a time.
class FileOps {
 public:
  virtual ~FileOps() = default;

  // A descriptor for reading and appending. With `create` the file must not exist; without `create`
  // it must exist.
  [[nodiscard]] virtual int Open(const std::string& file, bool create) = 0;
  virtual void Close(int fd) = 0;
  [[nodiscard]] virtual std::int64_t Size(int fd) = 0;
  [[nodiscard]] virtual ssize_t Append(int fd, std::span<const iovec> pieces) = 0;
  [[nodiscard]] virtual ssize_t Read(int fd, char* to, std::size_t bytes, std::uint64_t offset) = 0;
  [[nodiscard]] virtual int Truncate(int fd, std::uint64_t length) = 0;
  [[nodiscard]] virtual int Sync(int fd) = 0;  // fdatasync
  [[nodiscard]] virtual int Rename(const std::string& from, const std::string& to) = 0;
  [[nodiscard]] virtual int Remove(const std::string& file) = 0;
  [[nodiscard]] virtual int SyncDirectory() = 0;
  // Sets room for the first `bytes` of a file aside, if the file system can; its size stays.
  [[nodiscard]] virtual int Reserve(int /*fd*/, std::uint64_t /*bytes*/) { return 0; }
};

// FileOps on a real directory. Creates the directory if it is missing, and locks it against other
// processes while the object lives. Throws std::system_error with a one-line message on failure.
[[nodiscard]] std::unique_ptr<FileOps> OpenDataDirectory(const std::string& path);

}  // namespace depfast::real
