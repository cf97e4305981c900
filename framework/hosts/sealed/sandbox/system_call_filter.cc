#include "sealed/sandbox/system_call_filter.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/random.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "sealed/sandbox/audit_architecture.h"

namespace depfast::sealed {
namespace {

// A number of a system call that is allowed whatever its arguments are.
constexpr std::array kAllowed = {
    // Pipes and last words.
    SYS_read,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    // Memory: see also below.
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    // Signals that the program sends to itself, or gets for its own faults.
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_getpid,
    SYS_gettid,
    // The start and the end of a program.
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_exit,
    SYS_exit_group,
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
};

// The C library asks for these and lives well without.
constexpr std::array kRefused = {
    SYS_readlinkat,  // /proc/self/exe
    SYS_fstat,
    SYS_newfstatat,  // the time of a change to a file is a clock
#ifdef SYS_readlink
    SYS_readlink,
#endif
};

// The required value of a call's argument, in the mask's bits. Both processors are little-endian.
struct Argument {
  unsigned index;
  std::uint64_t mask;
  std::uint64_t value;
};

// An argument that is an int: the kernel looks at its lower half alone.
constexpr Argument Int(unsigned index, std::uint32_t value) { return {index, 0xffffffff, value}; }
constexpr Argument Whole(unsigned index, std::uint64_t value) {
  return {index, ~std::uint64_t{0}, value};
}

// Programs for the kernel's filter machine, built without memory of the heap.
class Program {
 public:
  void Kill() { Add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)); }
  void LoadArchitecture() { Load(offsetof(seccomp_data, arch)); }
  void LoadNumber() { Load(offsetof(seccomp_data, nr)); }

  // `action` if the loaded word is `value`, otherwise go on.
  void If(std::uint32_t value, std::uint32_t action) {
    Add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    Add(BPF_STMT(BPF_RET | BPF_K, action));
  }
  void UnlessKill(std::uint32_t value) {
    Add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    Kill();
  }

  // A call of that number is allowed if all its arguments are as they must be. Otherwise it is not.
  // Requires and leaves: the number is loaded.
  void Allow(long number, std::initializer_list<Argument> arguments) {
    const std::size_t skipped = 8 * arguments.size() + 1;
    Add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
                 static_cast<std::uint8_t>(skipped)));
    for (const Argument& each : arguments) {
      const std::size_t low = offsetof(seccomp_data, args) + each.index * sizeof(std::uint64_t);
      UnlessWordKill(low, each.mask, each.value);
      UnlessWordKill(low + sizeof(std::uint32_t), each.mask >> 32, each.value >> 32);
    }
    Add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }

  // False if the kernel refuses.
  bool Install() {
    const sock_fprog program{size_, instructions_.data()};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                   &program) == 0;
  }

 private:
  // Four instructions.
  void UnlessWordKill(std::size_t offset, std::uint64_t mask, std::uint64_t value) {
    Load(offset);
    Add(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, static_cast<std::uint32_t>(mask)));
    UnlessKill(static_cast<std::uint32_t>(value));
  }
  void Load(std::size_t offset) {
    Add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void Add(const sock_filter& instruction) {
    assert(size_ < instructions_.size());
    instructions_[size_++] = instruction;
  }

  std::array<sock_filter, 256> instructions_{};
  unsigned short size_ = 0;
};

}  // namespace

bool FilterSystemCalls(pid_t self, int program_fd, const char* empty_path) {
  if (kAuditArchitecture == 0) return false;
  Program program;
  program.LoadArchitecture();
  program.UnlessKill(kAuditArchitecture);
  program.LoadNumber();
  for (const long number : kAllowed) {
    program.If(static_cast<std::uint32_t>(number), SECCOMP_RET_ALLOW);
  }
  for (const long number : kRefused) {
    program.If(static_cast<std::uint32_t>(number), SECCOMP_RET_ERRNO | ENOENT);
  }
  // Memory that is nobody's file, that the count of its resident pages knows, and that nobody can
  // execute.
  constexpr std::uint64_t kKind = MAP_TYPE | MAP_ANONYMOUS | MAP_HUGETLB;
  program.Allow(SYS_mmap, {{2, PROT_EXEC, 0}, {3, kKind, MAP_PRIVATE | MAP_ANONYMOUS}});
  program.Allow(SYS_mprotect, {{2, PROT_EXEC, 0}});
  // malloc's key against double frees.
  program.Allow(SYS_getrandom, {Int(2, GRND_NONBLOCK)});
  // The end of std::call_once. Nobody waits, and nobody may.
  program.Allow(SYS_futex, {Int(1, FUTEX_WAKE_PRIVATE)});
  // Whether an output is a terminal; a limit of its own, which is not changed.
  program.Allow(SYS_ioctl, {Int(1, TCGETS)});
  program.Allow(SYS_prlimit64, {Int(0, 0), Whole(2, 0)});
  // abort(), and no signal to another process.
  program.Allow(SYS_tgkill, {Int(0, static_cast<std::uint32_t>(self)), Int(2, SIGABRT)});
  // The program itself, once: its descriptor closes then, and nobody there knows the path's
  // address.
  program.Allow(SYS_execveat,
                {Int(0, static_cast<std::uint32_t>(program_fd)),
                 Whole(1, reinterpret_cast<std::uintptr_t>(empty_path)), Int(4, AT_EMPTY_PATH)});
  program.Kill();
  return program.Install();
}

}  // namespace depfast::sealed
