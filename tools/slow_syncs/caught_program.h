// CaughtProgram: runs a program whose syncs of files are made by this process.
//
// A filter of the kernel (seccomp_unotify(2)) stops each thread of the program that calls fsync or
// fdatasync, and tells this process. It makes the call on a copy of the descriptor, may wait, and
// gives the result to the thread. All other system calls are as ever. None of this needs a
// privilege.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "real/descriptor.h"

namespace depfast::real {

// Makes the system call of that number on the descriptor, for a process of the program. Returns 0,
// or a negated errno.
using Sync = std::function<int(int number, int fd, pid_t process)>;

class CaughtProgram {
 public:
  // Starts it. It is killed when the calling thread ends. The calls of the processes that it starts
  // are caught, too. Throws std::system_error when the kernel does not let this process catch its
  // calls.
  explicit CaughtProgram(std::vector<std::string> words);

  // Makes one call after the other by `sync`. Each thread that calls this makes one at a time.
  [[noreturn]] void Serve(const Sync& sync) const;

  pid_t pid() const { return pid_; }

  // Waits for its end. Returns its exit status; of a signal, 128 and the signal, as shells do.
  int Wait() const;

 private:
  // The process that a thread of the program is in.
  pid_t ProcessOf(pid_t thread) const;
  Descriptor CopyOf(pid_t process, int fd) const;

  pid_t pid_;
  Descriptor process_;
  Descriptor calls_;
};

// Bytes that a process has written to files so far: whole pages, and not those that wait for their
// write already. Nothing if the kernel does not count, or the process has ended.
std::optional<std::int64_t> WrittenBytes(pid_t process);

}  // namespace depfast::real
