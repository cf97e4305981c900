#include "core/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define DEPFAST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEPFAST_ASAN 1
#endif
#endif

#ifdef DEPFAST_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace depfast {
namespace {

// Maps a stack with a guard page and checks that the guard really is one.
class GuardedStack {
 public:
  GuardedStack(std::size_t stack_bytes, StackBounds* bounds) : bytes_(stack_bytes), out_(bounds) {}

  boost::context::stack_context allocate() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t usable = (bytes_ + page - 1) / page * page;
    const std::size_t guard = 4 * page;  // wide enough for a frame that probes in page steps
    void* base = mmap(nullptr, guard + usable, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) Refuse("mmap");
    if (mprotect(base, guard, PROT_NONE) != 0) {
      const int error = errno;
      munmap(base, guard + usable);
      errno = error;
      Refuse("mprotect");
    }
    auto* low = static_cast<std::byte*>(base);
    *out_ = {low, low + guard, low + guard + usable};
    boost::context::stack_context context;
    context.size = guard + usable;
    context.sp = out_->top;
    return context;
  }

  void deallocate(boost::context::stack_context& context) {
    munmap(static_cast<std::byte*>(context.sp) - context.size, context.size);
  }

 private:
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
  // The stack's bounds are known only once Boost has allocated it, so the sanitizer is told of this
  // first, trivial visit with bounds that the allocator has just filled in.
  struct Announce {
    Fiber* fiber;
    GuardedStack inner;
    boost::context::stack_context allocate() {
      auto context = inner.allocate();
      fiber->BeforeEnter();
      return context;
    }
    void deallocate(boost::context::stack_context& context) { inner.deallocate(context); }
  };
  to_fiber_.emplace(Announce{this, stack}, entry);
  AfterLeave();
}

Fiber::~Fiber() {
  if (done_) return;
  const ExceptionState caller = SwapExceptionState(exceptions_);
  BeforeEnter();
  to_fiber_.reset();  // Boost throws its forced_unwind inside the fiber
  AfterLeave();
  SwapExceptionState(caller);
}

void Fiber::Resume() {
  const ExceptionState caller = SwapExceptionState(exceptions_);
  BeforeEnter();
  (*to_fiber_)();
  AfterLeave();
  exceptions_ = SwapExceptionState(caller);
}

void Fiber::Yield() {
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

Fiber::ExceptionState Fiber::SwapExceptionState(const ExceptionState& next) {
  auto* globals = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  return std::exchange(*globals, next);
}

#ifdef DEPFAST_ASAN

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
void Fiber::AfterLeave() {
  __sanitizer_finish_switch_fiber(caller_fake_stack_, nullptr, nullptr);
}

#else

void Fiber::BeforeEnter() {}
void Fiber::AfterEnter() {}
void Fiber::BeforeLeave(bool) {}
void Fiber::AfterLeave() {}

#endif

}  // namespace depfast
