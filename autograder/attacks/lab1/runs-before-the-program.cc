// Makes a call while the program is still being linked.
// Stopped-by: system call
namespace {
// Without the C library, which is not ready yet.
extern "C" void (*Resolve())() {
  [[maybe_unused]] long fork = 57;
  asm volatile("syscall" : "+a"(fork) : : "rcx", "r11", "memory");
  return nullptr;
}
}  // namespace

extern "C" __attribute__((ifunc("Resolve"))) void Chosen();

namespace {
[[maybe_unused]] void (*volatile attack)() = &Chosen;
}  // namespace
