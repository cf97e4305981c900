#include "sealed/sandbox/sandbox.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "sealed/sandbox/credentials.h"
#include "sealed/sandbox/limit.h"
#include "sealed/sandbox/path_rules.h"
#include "sealed/sandbox/system_call_filter.h"

namespace depfast::sealed {
namespace {

#ifdef DEPFAST_SANITIZED
constexpr bool kBuildsLayers = false;  // a sanitizer reads /proc, asks for the time, makes threads
#else
constexpr bool kBuildsLayers = true;
#endif

[[noreturn]] void Unable(const std::string& what) {
  throw std::runtime_error("cannot " + what + ": " + std::strerror(errno));
}

// Moves a descriptor to a number that the program does not use.
int OutOfTheWay(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
  if (moved < 0) Unable("move a descriptor");
  close(descriptor);
  return moved;
}

// A directory that is removed while it is open is empty for ever: nobody can make an entry there.
int OpenEmptyDirectory() {
  std::string path = std::filesystem::temp_directory_path() / "failslow-empty-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) Unable("make a directory like " + path);
  const int directory = open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) Unable("open " + path);
  if (rmdir(path.c_str()) != 0) Unable("remove " + path);
  return directory;
}

int EmptyDirectory() {
  static const int directory = OutOfTheWay(OpenEmptyDirectory());
  return directory;
}

// ---- in the child: only system calls ----

// The path for execveat: the filter allows this address alone.
constexpr char kEmptyPath[] = "";

// No replica comes near these.
void SetLimits() {
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_CPU, 3600);
  Limit(RLIMIT_FSIZE, 1 << 20);  // of the log, the only file there is
  if (!kBuildsLayers) return;
  Limit(RLIMIT_AS, rlim_t{64} << 30);  // 32,000 stacks have a seventh; memory has its own limit
  Limit(RLIMIT_MEMLOCK, 0);
  Limit(RLIMIT_MSGQUEUE, 0);
  Limit(RLIMIT_NOFILE, kFirstOwnDescriptor);
}

bool EmptyTheRoot(int directory) { return fchdir(directory) == 0 && chroot(".") == 0; }

bool ForbidPaths(int program) {
  PathRules rules;
  if (program >= 0) rules.Allow(program, PathRight::kReadAndExecute);
  return rules.Enforce();
}

bool ForbidClock() {
#if defined(PR_SET_TSC) && defined(__x86_64__)
  return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0;
#else
  return false;
#endif
}

// Builds the layers in the only order that works: each needs what a later one takes away.
// `program`: may still be executed; -1: none.
Layers Build(int empty_root, int program, Clock clock) {
  Layers built;
  const auto add = [&built](Layer layer, bool done) {
    if (done) built.Add(layer);
  };
  if (kBuildsLayers) {
    add(Layer::kEmptyRoot, EmptyTheRoot(empty_root));
    add(Layer::kNoCapabilities, DropCapabilities());
    add(Layer::kOwnUser, BecomeOwnUser(DrawOwnUser(), 1));
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // now: a change of the user forgets it
  add(Layer::kNoNewPrivilege, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  if (kBuildsLayers) {
    add(Layer::kLandlock, ForbidPaths(program));
    add(Layer::kNoClock, clock == Clock::kFault && ForbidClock());
  }
  SetLimits();
  if (kBuildsLayers) add(Layer::kSystemCalls, FilterSystemCalls(getpid(), program, kEmptyPath));
  return built;
}

// No descriptor above 4 is the program's.
void CloseTheOthersOnExec() {
  constexpr unsigned kFirst = 5;
  if (syscall(SYS_close_range, kFirst, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int each = kFirst; each < 1024; ++each)
    fcntl(each, F_SETFD, FD_CLOEXEC);  // before Linux 5.11
}

Layers FindLayers() {
  const int empty_root = EmptyDirectory();
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) Unable("make a pipe");
  const pid_t child = fork();
  if (child < 0) Unable("start a process");
  if (child == 0) {
    const Layers built = Build(empty_root, -1, Clock::kFault);
    [[maybe_unused]] const auto put = write(ends[1], &built, sizeof built);
    _exit(0);
  }
  close(ends[1]);
  Layers found;
  const ssize_t got = read(ends[0], &found, sizeof found);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (got != sizeof found) throw std::runtime_error("cannot find this machine's layers");
  return found;
}

}  // namespace

const char* NameOf(Layer layer) {
  switch (layer) {
    case Layer::kEmptyRoot:
      return "empty root directory";
    case Layer::kOwnUser:
      return "user of its own";
    case Layer::kNoCapabilities:
      return "no capabilities";
    case Layer::kNoNewPrivilege:
      return "no new privileges";
    case Layer::kLandlock:
      return "Landlock";
    case Layer::kNoClock:
      return "no clock";
    case Layer::kSystemCalls:
      return "system calls";
  }
  return "?";
}

const Layers& LayersOfThisMachine() {
  static const Layers layers = FindLayers();
  return layers;
}

Sandbox::Sandbox(const std::string& program) : program_(open(program.c_str(), O_PATH | O_CLOEXEC)) {
  struct stat status{};
  if (program_ < 0 || fstat(program_, &status) != 0) Unable("run " + program);
  program_ = OutOfTheWay(program_);
  EmptyDirectory();  // made in the parent
  const mode_t needed = LayersOfThisMachine().Has(Layer::kOwnUser) ? S_IXOTH : S_IXUSR;
  const bool executes = access(program.c_str(), X_OK) == 0;  // a file system may forbid it
  if (executes && S_ISREG(status.st_mode) && (status.st_mode & needed) != 0) return;
  close(program_);
  errno = EACCES;
  Unable("run " + program);
}

Sandbox::~Sandbox() { close(program_); }

const char* Sandbox::Run(char* const* environment, Clock clock) const {
  CloseTheOthersOnExec();
  Layers expected = LayersOfThisMachine();
  if (clock == Clock::kWorks) expected.Remove(Layer::kNoClock);
  if (Build(EmptyDirectory(), program_, clock) != expected) return "build the same layers again";
  char name[] = "replica";
  char* const arguments[] = {name, nullptr};
  syscall(SYS_execveat, program_, kEmptyPath, arguments, environment, AT_EMPTY_PATH);
  // EACCES, ENOENT: it names an interpreter, of which there is none. The constructor has seen that
  // the program itself may be executed.
  const bool malformed =
      errno == EACCES || errno == ENOENT || errno == ENOEXEC || errno == EINVAL || errno == ELIBBAD;
  return malformed ? kNoProgram : "execute the program";
}

}  // namespace depfast::sealed
