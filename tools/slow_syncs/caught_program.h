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
#include <string>
#include <vector>

#include "real/descriptor.h"

namespace depfast::real {

// Makes the system call of that number on the descriptor. Returns 0, or a negated errno.
using Sync = std::function<int(int number, int fd)>;

class CaughtProgram {
 public:
  // Starts it. It is killed when the calling thread ends. It has one process: its children must not
  // sync. Throws std::system_error when the kernel does not let this process catch its calls.
  explicit CaughtProgram(std::vector<std::string> words);

  // Makes one call after the other by `sync`. Each thread that calls this makes one at a time.
  [[noreturn]] void Serve(const Sync& sync) const;

  // Bytes that the program has written to files so far: whole pages, and not those that wait
  // for their write already. Throws std::system_error if the kernel does not count.
  std::int64_t WrittenBytes() const;

  // Waits for its end. Returns its exit status; of a signal, 128 and the signal, as shells do.
  int Wait() const;

 private:
  Descriptor CopyOf(int fd) const;

  pid_t pid_;
  Descriptor process_;
  Descriptor calls_;
};

}  // namespace depfast::real
