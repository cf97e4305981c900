#include "sealed/replica_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "sealed/protocol.h"
#include "sealed/sandbox/credentials.h"

namespace depfast::sealed {
namespace {

// Between two looks at a process that is late. The first one is free: a look at the clock before
// each step would cost every step.
constexpr int kSliceMs = 250;
constexpr int kImpatience = 10;  // see Findings::one_ran_away

[[noreturn]] void Unable(const std::string& what) {
  throw std::runtime_error("cannot " + what + ": " + std::strerror(errno));
}

// "5", "0.5".
std::string InWords(double seconds) {
  std::ostringstream text;
  text << seconds;
  return text.str();
}

double SecondsOf(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) Unable("make a pipe");
  constexpr int kBytes = 1 << 20;
  fcntl(ends[1], F_SETPIPE_SZ, kBytes);  // fewer wake-ups for long messages; refused is fine
  return {ends[0], ends[1]};
}

// Lock-step partners on two cores spend their time waking each other: keep the family on one.
void StayOnThisCore() {
  static const bool done = [] {
    const int core = sched_getcpu();
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core < 0) return false;
    CPU_SET(static_cast<unsigned>(core), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
  }();
  (void)done;
}

// A child's data between its start and exec. `machine`: takes the words of a failure that is
// the machine's and not the program's.
struct Birth {
  const Sandbox& sandbox;
  int perturb;
  Pipe in;
  Pipe out;
  int log;
  int machine;
  char* const* environment;
};

// In the child: only system calls, because its memory is the parent's.
[[noreturn]] void Become(const Birth& birth) {
  const auto& [sandbox, perturb, in, out, log, machine, environment] = birth;
  setpgid(0, 0);
  EndFirstWithoutMemory();
  if (perturb % 2 != 0) personality(ADDR_NO_RANDOMIZE);
  signal(SIGXFSZ, SIG_IGN);  // a full log loses words, not the replica
  // The pipes' numbers may collide with the wanted ones: move them out of the way first.
  const int in_fd = fcntl(in.read_end, F_DUPFD, kFirstOwnDescriptor);
  const int out_fd = fcntl(out.write_end, F_DUPFD, kFirstOwnDescriptor);
  const int log_fd = fcntl(log, F_DUPFD, kFirstOwnDescriptor);
  const int machine_fd = fcntl(machine, F_DUPFD, kFirstOwnDescriptor);
  const int null_fd = open("/dev/null", O_RDWR);
  dup2(null_fd, STDIN_FILENO);
  dup2(null_fd, STDOUT_FILENO);  // chatter must not push last words out of the log
  dup2(log_fd, STDERR_FILENO);
  dup2(in_fd, kFromSimulator);
  dup2(out_fd, kToSimulator);
  const Clock clock = perturb != 0 && perturb % 2 == 0 ? Clock::kFault : Clock::kWorks;
  const std::string_view failed = sandbox.Run(environment, clock);
  [[maybe_unused]] const auto written = write(machine_fd, failed.data(), failed.size());
  _exit(127);
}

#ifdef DEPFAST_SANITIZED
// A sanitizer must know of each stack.
pid_t Start(const Birth& birth) {
  const pid_t child = fork();
  if (child == 0) Become(birth);
  return child;
}
#else
// Forks without a copy of the parent's memory, which takes longer than all the rest. The parent
// waits until the child has become the program.
pid_t Start(Birth birth) {
  constexpr std::size_t kStackBytes = std::size_t{256} << 10;
  static std::vector<char> stack(kStackBytes);
  const auto become = [](void* given) -> int { Become(*static_cast<Birth*>(given)); };
  return clone(become, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &birth);
}
#endif

}  // namespace

ReplicaProcess::ReplicaProcess(const SealedOptions& options, const Sandbox& sandbox, int perturb)
    : options_(options) {
  Spawn(sandbox, perturb);
}

ReplicaProcess::~ReplicaProcess() {
  Kill();
  close(to_replica_);
  close(from_replica_);
  close(log_);
  close(machine_);
}

void ReplicaProcess::Spawn(const Sandbox& sandbox, int perturb) {
  signal(SIGPIPE, SIG_IGN);
  StayOnThisCore();
  const Pipe in = MakePipe();
  const Pipe out = MakePipe();
  const Pipe machine = MakePipe();
  log_ = memfd_create("replica-log", MFD_CLOEXEC);
  if (log_ < 0) Unable("make a log");
  std::string fill = "MALLOC_PERTURB_=" + std::to_string(perturb);
  std::vector<char*> environment;
  if (perturb != 0) environment.push_back(fill.data());
  environment.push_back(nullptr);
  pid_ = Start({sandbox, perturb, in, out, log_, machine.write_end, environment.data()});
  if (pid_ < 0) Unable("start a process");
  close(in.read_end);
  close(out.write_end);
  close(machine.write_end);
  machine_ = machine.read_end;
  to_replica_ = in.write_end;
  from_replica_ = out.read_end;
  fcntl(to_replica_, F_SETFL, O_NONBLOCK);
  fcntl(from_replica_, F_SETFL, O_NONBLOCK);
}

std::string_view ReplicaProcess::Ask(std::string_view message) {
  BeginStep();
  SendAll(message);
  return Receive();
}

void ReplicaProcess::BeginStep() {
  asleep_ms_ = 0;
  is_late_ = false;
}

std::size_t ReplicaProcess::Write(std::string_view bytes) {
  const ssize_t put = write(to_replica_, bytes.data(), bytes.size());
  if (put >= 0) return static_cast<std::size_t>(put);
  if (errno != EAGAIN && errno != EINTR) throw Ended(Obituary());
  return 0;
}

std::size_t ReplicaProcess::Read(char* to, std::size_t most) {
  const ssize_t got = read(from_replica_, to, most);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) throw Ended(Obituary());
  return 0;
}

void ReplicaProcess::SendAll(std::string_view message) {
  while (!message.empty()) {
    const std::size_t put = Write(message);
    message.remove_prefix(put);
    if (put == 0) WaitFor(to_replica_, POLLOUT);
  }
}

std::string_view ReplicaProcess::Receive() {
  std::size_t filled = 0;
  std::size_t wanted = kLengthBytes;
  while (filled < wanted) {
    // The buffer grows with the bytes that have arrived, not with the announced length.
    constexpr std::size_t kBytesMin = std::size_t{64} << 10;
    if (buffer_.size() == filled) buffer_.resize(std::max(kBytesMin, 2 * filled));
    WaitFor(from_replica_, POLLIN);  // first: the answer is never there yet
    filled += Read(buffer_.data() + filled, buffer_.size() - filled);
    if (wanted == kLengthBytes && filled >= kLengthBytes) {
      wanted += DecodeAnswerLength(buffer_.data());
    }
    if (filled < wanted) CheckCpuSeconds();  // most answers come in one piece
  }
  if (filled > wanted) throw ProtocolError("more than one answer");
  return {buffer_.data(), wanted};
}

std::size_t ReplicaProcess::ResidentBytes() const {
  std::size_t all_pages = 0;
  std::size_t resident_pages = 0;
  std::ifstream statm("/proc/" + std::to_string(pid_) + "/statm");
  statm >> all_pages >> resident_pages;  // zero if it has ended: the next step finds out
  return resident_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void ReplicaProcess::CheckResidentBytes() const {
  if (ResidentBytes() <= options_.resident_bytes_max) return;
  throw Death("its process uses more than " + std::to_string(options_.resident_bytes_max >> 20) +
              " MB of memory");
}

void ReplicaProcess::WaitFor(int fd, short events) {
  pollfd entry{fd, events, 0};
  if (poll(&entry, 1, SliceMs()) == 0) LookAfter();
}

void ReplicaProcess::WaitForEither() {
  std::array<pollfd, 2> entries{{{to_replica_, POLLOUT, 0}, {from_replica_, POLLIN, 0}}};
  if (poll(entries.data(), entries.size(), SliceMs()) == 0) LookAfter();
}

// Wall time decides nothing: it would make verdicts depend on the machine's load.
void ReplicaProcess::LookAfter() {
  // A process that it left behind may keep the pipe open when it is gone itself.
  if (HasEnded()) throw Ended(Obituary());
  CheckResidentBytes();
  CheckCpuSeconds();
  asleep_ms_ = IsAsleep() ? asleep_ms_ + SliceMs() : 0;
  const double limit = Patience(options_.step_asleep_seconds_max);
  if (asleep_ms_ * 1e-3 >= limit) {
    DieOf("it blocks outside the runtime: in a step it slept for " + InWords(limit) +
          " s (a lock, a read of a file?)");
  }
}

void ReplicaProcess::CheckCpuSeconds() {
  if (!std::exchange(is_late_, true)) started_cpu_ = CpuSeconds();
  const double limit = Patience(options_.step_cpu_seconds_max);
  if (CpuSeconds() - started_cpu_ >= limit) {
    DieOf("it never waits: one step used more than " + InWords(limit) +
          " s of processor time (a loop without a Wait?)" + PlaceOfLoop());
  }
}

void ReplicaProcess::CheckRunCpuSeconds() {
  const double limit = Patience(options_.run_cpu_seconds_max);
  if (CpuSeconds() + OwnCpuSeconds() - born_cpu_ >= limit) {
    DieOf("it never rests: the run took more than " + InWords(limit) +
          " s of processor time (does it wake up, or send, again and again?)");
  }
}

int ReplicaProcess::SliceMs() const {
  return options_.findings->one_ran_away ? kSliceMs / kImpatience : kSliceMs;
}

double ReplicaProcess::Patience(int seconds) const {
  return options_.findings->one_ran_away ? static_cast<double>(seconds) / kImpatience : seconds;
}

void ReplicaProcess::DieOf(const std::string& what) {
  options_.findings->one_ran_away = true;
  throw Death(what);
}

// Whether the process waits for something else than a processor, or is stopped. "PID (NAME) STATE
// ...": a name may hold anything.
bool ReplicaProcess::IsAsleep() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return false;
  return std::string_view("STt").find(stat[name_end + 2]) != std::string_view::npos;
}

// The processor time of the replica's process, so far.
double ReplicaProcess::CpuSeconds() const {
  clockid_t clock{};
  return clock_getcpuclockid(pid_, &clock) == 0 ? SecondsOf(clock) : 0;
}

double ReplicaProcess::OwnCpuSeconds() { return SecondsOf(CLOCK_PROCESS_CPUTIME_ID); }

// Whether the process has ended by itself; its status stays to be collected.
bool ReplicaProcess::HasEnded() const {
  siginfo_t info{};
  return pid_ > 0 &&
         waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

bool ReplicaProcess::EndsSoon() const {
  constexpr int kPatienceMs = 1'000;
  for (int waited = 0; waited < kPatienceMs && !HasEnded(); ++waited) poll(nullptr, 0, 1);
  return HasEnded();
}

// Its output before depends on the moment.
std::string ReplicaProcess::PlaceOfLoop() const {
  if (pid_ <= 0) return "";  // a signal to -1 is one to everybody
  kill(pid_, SIGXCPU);
  if (!EndsSoon()) return "";
  const std::string words = "\n" + CrashMessage();
  const std::size_t loop = words.rfind("\nloop:");
  if (loop == std::string::npos) return "";
  return words.substr(std::min(loop, words.rfind("\nin coroutine '", loop)));
}

// Its pipes are closed: how the process ended, with the last words it wrote.
std::string ReplicaProcess::Obituary() {
  if (pid_ <= 0) return "its process is gone";
  // The pipes of a process that ends are closed a moment before the end can be seen.
  if (!EndsSoon())
    return "it closed its connection to the simulator (a close of file descriptors?)";
  const int status = Kill();
  FailIfNeverExecuted();
  was_killed_ = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  std::string text;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) {
    text = "it made a system call that no replica may make (a file, a thread, a sleep?)";
  } else if (WIFSIGNALED(status)) {
    text = std::string("it crashed (") + strsignal(WTERMSIG(status)) + ")";
  } else {
    text = "its process exited with status " + std::to_string(WEXITSTATUS(status));
  }
  const std::string words = CrashMessage();
  return words.empty() ? text : text + ": " + words;
}

void ReplicaProcess::FailIfNeverExecuted() const {
  std::array<char, 100> words{};
  const ssize_t got = read(machine_, words.data(), words.size());
  if (got <= 0) return;
  const std::string failed(words.data(), static_cast<std::size_t>(got));
  if (failed == Sandbox::kNoProgram) throw Ended(failed);
  throw std::runtime_error("cannot start " + options_.program + ": its process could not " +
                           failed);
}

std::string ReplicaProcess::CrashMessage() const {
  constexpr off_t kBytesMax = 2000;
  const off_t size = lseek(log_, 0, SEEK_END);
  std::string words(static_cast<std::size_t>(std::min(size, kBytesMax)), '\0');
  const ssize_t got =
      pread(log_, words.data(), words.size(), size - static_cast<off_t>(words.size()));
  words.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words;
}

int ReplicaProcess::Kill() {
  if (pid_ <= 0) return 0;
  kill(-pid_, SIGKILL);  // the group; pid_ is ours until it is waited for
  kill(pid_, SIGKILL);   // it may have left the group, or not have made it yet
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

}  // namespace depfast::sealed
