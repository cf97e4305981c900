// A replica that is bad in the way that a client names.
#include "trouble.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "sealed/protocol.h"

namespace depfast::sealed_tests {
namespace {

// Writes bytes to the simulator that its protocol does not know.
void Write(const std::string& bytes) {
  [[maybe_unused]] const auto written = write(sealed::kToSimulator, bytes.data(), bytes.size());
}

// Writes more than the log of a replica can take.
void Print(std::FILE* stream) {
  const std::string line(1000, 'z');
  for (int i = 0; i < 3000; ++i) std::fputs((line + "\n").c_str(), stream);
  std::fflush(stream);
}

// Dies of it the second time.
void Chatter() {
  static bool again = false;
  if (again) std::fputs("these are my last words\n", stderr);
  Print(stdout);
  if (again) _exit(4);
  again = true;
}

struct alignas(64) Wide {
  char bytes[64];
};

// Requests 1,000,064 bytes of the heap and keeps them; the next call returns them.
void Hoard() {
  static std::unique_ptr<std::string> text;
  static std::unique_ptr<Wide> wide;
  const bool again = wide != nullptr;
  text.reset(again ? nullptr : new std::string(1'000'000 - sizeof(std::string) - 1, 'h'));
  wide.reset(again ? nullptr : new Wide());
}

// Requests 1,000,064 bytes of the C library and keeps them; the next call returns them.
void HoardInC() {
  static std::array<void*, 4> all{};
  if (all[0] != nullptr) {
    for (void*& each : all) free(std::exchange(each, nullptr));
    return;
  }
  all[0] = std::realloc(std::malloc(100), 400'000);
  all[1] = std::calloc(100, 3'000);
  all[2] = std::aligned_alloc(64, 64);
  if (posix_memalign(&all[3], 4096, 300'000) != 0) std::abort();
}

// Uses 64 MB that the heap's count does not know.
void HoardElsewhere() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  static auto* const volatile somewhere = static_cast<char*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(somewhere, 'h', kBytes);
}

// The child keeps everything open, and outlives every step.
void StartChild() {
  if (fork() == 0) {
    for (;;) pause();
  }
}

// Waits for a message that the simulator does not send.
void Block() {
  char byte = 0;
  [[maybe_unused]] const auto got = read(sealed::kFromSimulator, &byte, 1);
}

// ---- out of the sandbox ----

void ReadClock() { [[maybe_unused]] const auto now = std::chrono::steady_clock::now(); }

// Dies if the log has a date.
void DateAFile() {
  struct stat status{};
  if (fstat(STDERR_FILENO, &status) == 0) _exit(6);
}

void MapAFile() { mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, sealed::kFromSimulator, 0); }

void RaiseALimit() {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
}

// The lower half of the pointer is 0.
void RaiseALimitByAnOddPointer() {
  syscall(SYS_prlimit64, 0, RLIMIT_CPU, std::uintptr_t{0x700000000000}, nullptr);
}

void ExecuteAPath() {
  char* const arguments[] = {nullptr};
  for (int each = 0; each < 64; ++each) {
    syscall(SYS_execveat, each, "/proc/self/exe", arguments, arguments, AT_EMPTY_PATH);
  }
}

// Announces a long answer, and lets it come byte by byte.
void Drip() {
  static volatile bool goes_on = true;
  Write(std::string("\xff\xff\x0f\0", 4));
  for (;;) {
    Write("x");
    for (int i = 0; i < 100'000'000 && goes_on; ++i) {
    }
  }
}

void WriteMemoryOf(pid_t process) {
  char byte = 0;
  const iovec here{&byte, 1};
  const iovec there{reinterpret_cast<void*>(std::uintptr_t{4096}), 1};
  process_vm_writev(process, &here, 1, &there, 1, 0);
}

void ExecuteItself() {
  char* const arguments[] = {nullptr};
  execve("/proc/self/exe", arguments, arguments);
}

// Tries each descriptor: the program's own is gone, so another one has its number.
void ExecuteADescriptor() {
  char* const arguments[] = {nullptr};
  for (int each = 0; each < 4096; ++each) {
    syscall(SYS_execveat, each, "", arguments, arguments, AT_EMPTY_PATH);
  }
}

volatile int depth_max = 1'000'000'000;

int Dig(int depth) {
  volatile char room[512] = {};
  if (depth >= depth_max) return room[0];
  return Dig(depth + 1) + room[1];
}

void Crash() {
  static volatile std::uintptr_t nowhere = 64;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

void Spin() {
  static volatile bool for_ever = true;
  while (for_ever) {
  }
}

// Nondeterministic: where things are in memory reaches the host.
void ShowAddress(Runtime& runtime) {
  static int somewhere = 0;
  const auto on_heap = std::make_unique<int>(1);
  runtime.Observe({1,
                   {reinterpret_cast<std::uintptr_t>(&somewhere),
                    reinterpret_cast<std::uintptr_t>(on_heap.get()), 0, 0}});
}

// A byte that was never written.
unsigned char FreshByte() {
  constexpr std::size_t kBytes = 2000;
  const auto* volatile fresh = static_cast<unsigned char*>(std::malloc(kBytes));
  const unsigned char byte = fresh[kBytes / 2];
  std::free(const_cast<unsigned char*>(fresh));
  return byte;
}

// Nondeterministic: such a byte reaches the host.
void ShowMemory(Runtime& runtime) { runtime.Observe({1, {FreshByte(), 0, 0, 0}}); }

const std::map<std::string, void (*)(Runtime&)> kTroubles = {
    {"sandbox: aborts another",
     [](Runtime&) { syscall(SYS_tgkill, getppid(), getppid(), SIGABRT); }},
    {"sandbox: stops itself", [](Runtime&) { syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP); }},
    {"sandbox: shares memory",
     [](Runtime&) { mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }},
    {"sandbox: makes code",
     [](Runtime&) { mmap(nullptr, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }},
    {"sandbox: raises a limit by an odd pointer", [](Runtime&) { RaiseALimitByAnOddPointer(); }},
    {"sandbox: executes a path", [](Runtime&) { ExecuteAPath(); }},
    {"drips", [](Runtime&) { Drip(); }},
    {"sandbox: asks for another's group", [](Runtime&) { setpgid(0, 0); }},
    {"sandbox: asks for the time", [](Runtime&) { syscall(SYS_clock_gettime, 0, nullptr); }},
    {"sandbox: connects", [](Runtime&) { socket(AF_UNIX, SOCK_STREAM, 0); }},
    {"sandbox: draws", [](Runtime&) { syscall(SYS_getrandom, nullptr, 0, 0); }},
    {"sandbox: executes a descriptor", [](Runtime&) { ExecuteADescriptor(); }},
    {"sandbox: executes itself", [](Runtime&) { ExecuteItself(); }},
    {"sandbox: kills all", [](Runtime&) { kill(-1, SIGKILL); }},
    {"sandbox: kills its parent", [](Runtime&) { kill(getppid(), SIGKILL); }},
    {"sandbox: maps a file", [](Runtime&) { MapAFile(); }},
    {"sandbox: makes a file", [](Runtime&) { std::fopen("/tmp/left-behind", "w"); }},
    {"sandbox: opens a file", [](Runtime&) { std::fopen("/etc/passwd", "r"); }},
    {"sandbox: raises a limit", [](Runtime&) { RaiseALimit(); }},
    {"sandbox: sleeps", [](Runtime&) { syscall(SYS_nanosleep, nullptr, nullptr); }},
    {"sandbox: starts a child", [](Runtime&) { StartChild(); }},
    {"sandbox: starts a thread", [](Runtime&) { std::thread([] {}).join(); }},
    {"sandbox: traces its parent", [](Runtime&) { ptrace(PTRACE_ATTACH, getppid(), nullptr, 0); }},
    {"sandbox: writes its parent's memory", [](Runtime&) { WriteMemoryOf(getppid()); }},
    {"reads a clock", [](Runtime&) { ReadClock(); }},
    {"babbles", [](Runtime&) { Write(std::string("\x05\0\0\0hello", 9)); }},
    {"blocks", [](Runtime&) { Block(); }},
    {"chatters", [](Runtime&) { Chatter(); }},
    {"complains", [](Runtime&) { Print(stderr); }},
    {"exaggerates", [](Runtime&) { Write("\xff\xff\xff\xff"); }},  // four gigabytes follow
    {"exits", [](Runtime&) { _exit(3); }},
    {"forks",
     [](Runtime&) {
       StartChild();
       _exit(5);
     }},
    {"forks and lives", [](Runtime&) { StartChild(); }},
    {"hoards", [](Runtime&) { Hoard(); }},
    {"hoards in C", [](Runtime&) { HoardInC(); }},
    {"hoards elsewhere", [](Runtime&) { HoardElsewhere(); }},
    {"hoards and spins",
     [](Runtime&) {
       HoardElsewhere();
       Spin();
     }},
    {"dates a file", [](Runtime&) { DateAFile(); }},
    {"hangs up",
     [](Runtime&) {
       close(sealed::kFromSimulator);
       close(sealed::kToSimulator);
       Spin();
     }},
    {"never rests",
     [](Runtime& runtime) {
       for (;;) runtime.Sleep(1ns);
     }},
    {"overflows", [](Runtime&) { Dig(0); }},
    {"segfaults", [](Runtime&) { Crash(); }},
    {"shows address", ShowAddress},
    {"shows memory", ShowMemory},
    {"spins", [](Runtime&) { Spin(); }},
    {"throws",
     [](Runtime& runtime) {
       runtime.Spawn("thrower", [] { throw std::runtime_error("out of luck"); });
     }},
};

// "odd: spins" spins where fresh memory is odd, and "even: spins" where it is even.
void Make(const std::string& kind, Runtime& runtime) {
  const std::string parity = FreshByte() % 2 != 0 ? "odd: " : "even: ";
  if (kind.starts_with(parity)) return Make(kind.substr(parity.size()), runtime);
  if (kind.starts_with("odd: ") || kind.starts_with("even: ")) return;
  kTroubles.at(kind)(runtime);
}

class TroubleMaker : public Service {
 public:
  explicit TroubleMaker(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    ServeEcho(runtime_.rpc());
    runtime_.rpc().Handle<MakeTrouble>([this](PeerId, const MakeTrouble& request) {
      Make(request.kind, runtime_);
      return TextReply{"no trouble after all"};
    });
  }

 private:
  Runtime& runtime_;
};

}  // namespace
}  // namespace depfast::sealed_tests

std::unique_ptr<depfast::Service> depfast::MakeService(depfast::Runtime& runtime) {
  return std::make_unique<depfast::sealed_tests::TroubleMaker>(runtime);
}
