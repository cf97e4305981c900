#include "core/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#ifdef DEPFAST_SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace depfast {
namespace {

#ifdef MAP_STACK
constexpr int kForAStack = MAP_STACK | MAP_NORESERVE;
#else
constexpr int kForAStack = MAP_NORESERVE;
#endif

// Maps a stack with a guard page and checks that the guard really is one.
class GuardedStack {
 public:
  GuardedStack(std::size_t stack_bytes, StackBounds* bounds) : bytes_(stack_bytes), out_(bounds) {}

  boost::context::stack_context allocate() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t usable = (bytes_ + page - 1) / page * page;
    const std::size_t guard = 4 * page;  // wide enough for a frame that probes in page steps
    void* base = mmap(nullptr, guard + usable, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | kForAStack, -1, 0);
    if (base == MAP_FAILED) Refuse("mmap");
    if (mprotect(base, guard, PROT_NONE) != 0) {
      const int error = errno;
      munmap(base, guard + usable);
      errno = error;
      Refuse("mprotect");
    }
    auto* low = static_cast<std::byte*>(base);
    *out_ = {low, low + guard, low + guard + usable};
    Announce(*out_);
    boost::context::stack_context context;
    context.size = guard + usable;
    context.sp = out_->top;
    return context;
  }

  void deallocate(boost::context::stack_context& context) {
    Retract(*out_);
    munmap(static_cast<std::byte*>(context.sp) - context.size, context.size);
  }

 private:
#ifdef DEPFAST_SANITIZED
  // Memory that only a suspended coroutine refers to is not leaked: the leak checker must look at
  // its stack.
  static void Announce(const StackBounds& stack) {
    __lsan_register_root_region(stack.bottom, Size(stack));
  }
  // The last frames never return, and leave their poison for the next stack at these addresses.
  static void Retract(const StackBounds& stack) {
    ASAN_UNPOISON_MEMORY_REGION(stack.bottom, Size(stack));
    __lsan_unregister_root_region(stack.bottom, Size(stack));
  }
  static std::size_t Size(const StackBounds& stack) {
    return static_cast<std::size_t>(stack.top - stack.bottom);
  }
#else
  static void Announce(const StackBounds&) {}
  static void Retract(const StackBounds&) {}
#endif

  [[noreturn]] static void Refuse(const char* call) {
    throw std::runtime_error(
        std::string("cannot make a coroutine stack: ") + call + ": " + std::strerror(errno) +
        " (too many coroutines? a process may have about 32,000 guarded stacks; see "
        "vm.max_map_count)");
  }

  std::size_t bytes_;
  StackBounds* out_;
};

}  // namespace

Fiber::Fiber(std::size_t stack_bytes, std::function<void()> body) : body_(std::move(body)) {
  // Boost enters a coroutine when it is made; the first thing ours does is to go back. Exception
  // state is not swapped for this: the visit touches none, and a refused stack throws past us.
  GuardedStack stack(stack_bytes, &stack_);
  const auto entry = [this](Coroutine::push_type& to_caller) {
    AfterEnter();
    to_caller_ = &to_caller;
    Yield();
    body_();
    done_ = true;
    BeforeLeave(/*for_ever=*/true);
  };
  // The stack's bounds are known only after Boost has allocated it. The sanitizer learns of this
  // first, trivial visit with the bounds that the allocator has just filled in.
  struct BeforeFirstVisit {
    Fiber* fiber;
    GuardedStack inner;
    boost::context::stack_context allocate() {
      auto context = inner.allocate();
      fiber->BeforeEnter();
      return context;
    }
    void deallocate(boost::context::stack_context& context) { inner.deallocate(context); }
  };
  to_fiber_.emplace(BeforeFirstVisit{this, stack}, entry);
  AfterLeave();
}

Fiber::~Fiber() {
  ExceptionState& state = ThreadExceptionState();
  const ExceptionState caller = std::exchange(state, exceptions_);
  BeforeEnter();
  to_fiber_.reset();  // Boost throws its forced_unwind inside the fiber, even if the body has ended
  if (done_) {        // that visit came and went below our own code: account for it
    AfterEnter();
    BeforeLeave(/*for_ever=*/true);
  }
  AfterLeave();
  state = caller;
}

#ifdef DEPFAST_SANITIZED

void Fiber::BeforeEnter() {
  __sanitizer_start_switch_fiber(&caller_fake_stack_, stack_.bottom,
                                 static_cast<std::size_t>(stack_.top - stack_.bottom));
}
void Fiber::AfterEnter() {
  __sanitizer_finish_switch_fiber(fake_stack_, &caller_bottom_, &caller_size_);
}
void Fiber::BeforeLeave(bool for_ever) {
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_stack_, caller_bottom_, caller_size_);
}
void Fiber::AfterLeave() { __sanitizer_finish_switch_fiber(caller_fake_stack_, nullptr, nullptr); }

#endif

}  // namespace depfast
