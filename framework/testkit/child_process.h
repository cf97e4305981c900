// A child process that goes on from here, as fork makes it, and memory that it shares with us.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <new>
#include <system_error>
#include <type_traits>

namespace depfast::testkit {

// A T that this process and its later children share. Throws std::system_error.
template <typename T>
class SharedWithChild {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  SharedWithChild() : memory_(Map()) { new (memory_) T(); }
  ~SharedWithChild() { munmap(memory_, sizeof(T)); }
  SharedWithChild(const SharedWithChild&) = delete;
  SharedWithChild& operator=(const SharedWithChild&) = delete;

  T* operator->() const { return static_cast<T*>(memory_); }

 private:
  static void* Map() {
    void* const memory =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    return memory;
  }

  void* const memory_;
};

// Runs `body` in a child process without output. Returns its status as waitpid gives it: 0 if the
// body has returned. Throws std::system_error. Requires: this process has one thread.
int RunInChild(const std::function<void()>& body);

}  // namespace depfast::testkit
