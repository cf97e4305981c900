// calibrate_wakeup: measures the cost of waking another process through the loopback. Two processes
// send each other single bytes and sleep while they wait. It prints one line of JSON. `kit bench
// calibrate` runs it with both processes on one core, and with a core for each.
//
// A round trip takes longer than the processor time of both sides. The rest is the switch to
// another process, or the wake-up of an idle core.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "program.h"
#include "real/descriptor.h"

namespace depfast::real {
namespace {

void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    ThrowErrno("cannot run on core " + std::to_string(core));
  }
}

// Both ends of a TCP connection.
struct Pair {
  Descriptor ours;
  Descriptor theirs;
};

Pair Connect() {
  const auto listener = Checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (bind(listener.get(), any, size) != 0 || listen(listener.get(), 1) != 0 ||
      getsockname(listener.get(), any, &size) != 0) {
    ThrowErrno("cannot listen on the loopback");
  }
  auto ours = Checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  if (connect(ours.get(), any, size) != 0) ThrowErrno("cannot connect on the loopback");
  auto theirs = Checked(accept(listener.get(), nullptr, nullptr), "accept");
  const int yes = 1;
  for (const int fd : {ours.get(), theirs.get()}) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  return {std::move(ours), std::move(theirs)};
}

// Returns false when the other side has gone.
bool Receive(int fd) {
  char byte = 0;
  return recv(fd, &byte, 1, 0) == 1;
}

void Send(int fd) {
  const char byte = 0;
  if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1) ThrowErrno("send");
}

[[noreturn]] void Echo(int core, Pair pair) {
  pair.ours.Close();
  PinTo(core);
  while (Receive(pair.theirs.get())) Send(pair.theirs.get());
  _exit(0);
}

std::int64_t CpuOf(const rusage& usage) {
  const auto ns = [](const timeval& time) {
    return (std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

std::int64_t Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now).count();
}

Json Measure(int core, int other, std::chrono::milliseconds time) {
  Pair pair = Connect();
  const pid_t child = fork();
  if (child < 0) ThrowErrno("fork");
  if (child == 0) Echo(other, std::move(pair));
  pair.theirs.Close();
  PinTo(core);
  rusage before = {};
  getrusage(RUSAGE_SELF, &before);
  std::vector<std::int64_t> trips;
  const std::int64_t first = Now();
  std::int64_t last = first;
  while (last - first < std::chrono::nanoseconds(time).count()) {
    Send(pair.ours.get());
    if (!Receive(pair.ours.get())) throw std::runtime_error("the other process is gone");
    const std::int64_t now = Now();
    trips.push_back(now - std::exchange(last, now));
  }
  rusage after = {};
  getrusage(RUSAGE_SELF, &after);
  pair.ours.Close();
  rusage theirs = {};
  if (wait4(child, nullptr, 0, &theirs) != child) ThrowErrno("wait4");

  const auto middle = trips.begin() + static_cast<std::ptrdiff_t>(trips.size() / 2);
  std::nth_element(trips.begin(), middle, trips.end());
  const std::int64_t cpu = CpuOf(after) - CpuOf(before) + CpuOf(theirs);
  const auto count = static_cast<std::int64_t>(trips.size());
  return {{"round_trips", count},
          {"median_ns", *middle},
          {"mean_ns", (last - first) / count},
          {"cpu_ns", cpu / count}};
}

}  // namespace
}  // namespace depfast::real

int main(int argc, char** argv) {
  int core = 0;
  int other = 0;
  int milliseconds = 0;
  CLI::App app("Measures the cost of waking another process.", "calibrate_wakeup");
  app.add_option("core", core)->required()->check(CLI::NonNegativeNumber);
  app.add_option("other", other)->required()->check(CLI::NonNegativeNumber);
  app.add_option("milliseconds", milliseconds)->required()->check(depfast::kPositive);
  return depfast::RunProgram(app, argc, argv, [&] {
    return depfast::real::Measure(core, other, std::chrono::milliseconds(milliseconds));
  });
}
