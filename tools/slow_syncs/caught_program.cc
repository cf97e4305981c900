#include "caught_program.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fstream>

#include "sealed/sandbox/audit_architecture.h"

namespace depfast::real {
namespace {

// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, since Linux 5.19. Without it a signal interrupts a call
// that waits, and the call begins anew. Go's runtime sends signals to its own threads.
constexpr unsigned kNotInterrupted = 1U << 5;
constexpr int kCannotStart = 127;

// From now on this process's calls are caught. Returns the descriptor that tells of them, or -1.
int CatchCalls() {
  if (sealed::kAuditArchitecture == 0) {
    errno = ENOSYS;
    return -1;
  }
  constexpr std::uint32_t kTell = SECCOMP_RET_USER_NOTIF;
  constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
  std::array filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, sealed::kAuditArchitecture, 0, 3),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 2, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fdatasync, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, kAllow),
      sock_filter BPF_STMT(BPF_RET | BPF_K, kTell),
  };
  const sock_fprog program = {filter.size(), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  SECCOMP_FILTER_FLAG_NEW_LISTENER | kNotInterrupted, &program));
}

// In the child. It says which descriptor tells of its calls, or a negated errno, and goes on when
// its parent has a copy.
[[noreturn]] void Become(std::vector<std::string>& words, int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int calls = CatchCalls();
  if (calls < 0) calls = -errno;
  char is_copied = 0;
  if (write(parent, &calls, sizeof calls) != sizeof calls) _exit(kCannotStart);
  if (read(parent, &is_copied, 1) != 1) _exit(kCannotStart);  // the parent has ended
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::perror(("cannot run " + words[0]).c_str());
  _exit(kCannotStart);
}

// The number after a name in a file of lines.
std::optional<std::int64_t> Counter(const std::string& path, const std::string& name) {
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name, 0) == 0) return std::stoll(line.substr(name.size()));
  }
  return std::nullopt;
}

}  // namespace

CaughtProgram::CaughtProgram(std::vector<std::string> words) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) ThrowErrno("socketpair");
  const Descriptor mine(ends[0]);
  Descriptor its(ends[1]);
  pid_ = fork();
  if (pid_ < 0) ThrowErrno("fork");
  if (pid_ == 0) {
    close(mine.get());
    Become(words, its.get());
  }
  its.Close();
  process_ = Checked(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)), "pidfd_open");
  int calls = -ECHILD;
  if (read(mine.get(), &calls, sizeof calls) == sizeof calls && calls >= 0)
    calls_ = CopyOf(pid_, calls);
  if (!calls_.valid()) {
    if (calls < 0) errno = -calls;
    ThrowErrno("the kernel lets no process catch the system calls of another");
  }
  if (write(mine.get(), "", 1) != 1) ThrowErrno("cannot start the program");
}

void CaughtProgram::Serve(const Sync& sync) const {
  for (;;) {
    seccomp_notif call = {};
    // It fails when the calling thread was killed meanwhile.
    if (ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
    seccomp_notif_resp response = {};
    response.id = call.id;
    {
      const pid_t process = ProcessOf(static_cast<pid_t>(call.pid));
      const Descriptor file = CopyOf(process, static_cast<int>(call.data.args[0]));
      response.error = file.valid() ? sync(call.data.nr, file.get(), process) : -errno;
    }
    ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

int CaughtProgram::Wait() const {
  siginfo_t end = {};
  // It stays a zombie: a call that it had made before may still need its id.
  if (waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT) != 0) ThrowErrno("waitid");
  return end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
}

pid_t CaughtProgram::ProcessOf(pid_t thread) const {
  const std::string task = "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(thread);
  if (access(task.c_str(), F_OK) == 0) return pid_;  // by far the most
  return static_cast<pid_t>(
      Counter("/proc/" + std::to_string(thread) + "/status", "Tgid:").value_or(pid_));
}

Descriptor CaughtProgram::CopyOf(pid_t process, int fd) const {
  const auto copy = [fd](int from) {
    return Descriptor(static_cast<int>(syscall(SYS_pidfd_getfd, from, fd, 0)));
  };
  if (process == pid_) return copy(process_.get());
  const Descriptor other(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  return copy(other.get());
}

std::optional<std::int64_t> WrittenBytes(pid_t process) {
  return Counter("/proc/" + std::to_string(process) + "/io", "write_bytes:");
}

}  // namespace depfast::real
