// Fiber: one Boost coroutine, with the parts that Boost 1.74 to 1.87 leave out.
//
// Only this file handles three traps:
// - A stack can be without a working guard page: mprotect can fail silently when the process has
//   too many mappings.
// - Exception state leaks from one stack to another when a coroutine waits inside a catch block
//   (fixed in Boost 1.88).
// - The address sanitizer loses track of the stack in use.
#pragma once

#include <cxxabi.h>

#include <boost/coroutine2/coroutine.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#ifdef _LIBCPP_VERSION
// A part of the Itanium C++ ABI (section 2.2.2) that this library's header lacks.
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals() noexcept;
}  // namespace __cxxabiv1
#endif

namespace depfast {

// The address range of a stack, and of the guard below it that must never be touched.
struct StackBounds {
  std::byte* guard = nullptr;   // lowest address; the guard is [guard, bottom)
  std::byte* bottom = nullptr;  // lowest usable address
  std::byte* top = nullptr;     // one past the highest
};

class Fiber {
 public:
  // Makes a suspended fiber that runs `body` at its first Resume. Throws std::runtime_error, with
  // advice, if no guarded stack can be had. Requires: `body` does not throw.
  Fiber(std::size_t stack_bytes, std::function<void()> body);

  // Destroying a suspended fiber unwinds it; the scheduler lets bodies return first.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it yields or returns. Requires: called from outside the fiber; not done.
  void Resume();

  // Goes back to the caller of Resume. Requires: called from inside the fiber.
  void Yield();

  bool done() const { return done_; }
  const StackBounds& stack() const { return stack_; }

 private:
  using Coroutine = boost::coroutines2::coroutine<void>;

  // The C++ runtime's per-thread exception state (Itanium C++ ABI, section 2.2.2).
  struct ExceptionState {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  static ExceptionState& ThreadExceptionState();

  // The sanitizer's view of a switch: call Before on the stack that is left, After on arrival.
#ifdef DEPFAST_SANITIZED
  void BeforeEnter();
  void AfterEnter();
  void BeforeLeave(bool for_ever);
  void AfterLeave();
#else
  void BeforeEnter() {}
  void AfterEnter() {}
  void BeforeLeave(bool) {}
  void AfterLeave() {}
#endif

  StackBounds stack_;
  bool done_ = false;
  ExceptionState exceptions_;  // of this fiber, valid while it is suspended
#ifdef DEPFAST_SANITIZED
  void* fake_stack_ = nullptr;         // this fiber's, while suspended
  void* caller_fake_stack_ = nullptr;  // the resumer's, while we run
  const void* caller_bottom_ = nullptr;
  std::size_t caller_size_ = 0;
#endif
  std::function<void()> body_;
  Coroutine::push_type* to_caller_ = nullptr;  // valid while the fiber lives
  std::optional<Coroutine::pull_type> to_fiber_;
};

// The two halves of a switch are inline. The processor mispredicts a function's return after a
// switch to another stack. One such return doubles the cost of the switch.

inline Fiber::ExceptionState& Fiber::ThreadExceptionState() {
  // Asking the C++ runtime each time would cost another quarter of a switch.
  thread_local ExceptionState* state = nullptr;
  if (state == nullptr) state = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  return *state;
}

inline void Fiber::Resume() {
  ExceptionState& state = ThreadExceptionState();
  const ExceptionState caller = std::exchange(state, exceptions_);
  BeforeEnter();
  (*to_fiber_)();
  AfterLeave();
  exceptions_ = std::exchange(state, caller);
}

inline void Fiber::Yield() {
  BeforeLeave(/*for_ever=*/false);
  try {
    (*to_caller_)();
  } catch (...) {  // Boost's forced unwinding: this stack is in use again for its last time
    AfterEnter();
    BeforeLeave(/*for_ever=*/true);
    throw;
  }
  AfterEnter();
}

}  // namespace depfast
