// What one batch of a replica's disk costs on this machine: appends and syncs as the real host
// does them, and prints one line of JSON. `kit bench calibrate` runs one of these for each replica,
// all at once.
//
// A batch's time has three parts: on the core, ready and waiting for the core, and asleep until the
// device has done its work. The simulator makes the second itself; this tells the other two.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "real/descriptor.h"
#include "real/disk_files.h"

namespace depfast::real {
namespace {

constexpr const char* kUsage = "usage: calibrate_disk DIRECTORY BYTES MILLISECONDS";

std::int64_t ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > 100'000) {
    throw std::invalid_argument("'" + std::string(text) + "' is not a number from 1 to 100000");
  }
  return number;
}

// Of this thread, since it began.
struct Clocks {
  std::int64_t wall_ns;
  std::int64_t cpu_ns;
  std::int64_t ready_ns;  // and waiting for the core
  std::int64_t sleeps;
};

class ThreadClocks {
 public:
  Clocks Read() {
    Clocks clocks{};
    char text[96] = {};
    if (pread(schedstat_.get(), text, sizeof text - 1, 0) < 0) ThrowErrno("cannot read schedstat");
    long long cpu = 0;
    long long ready = 0;
    if (std::sscanf(text, "%lld %lld", &cpu, &ready) != 2) {
      throw std::runtime_error("the kernel keeps no statistics of its scheduler");
    }
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    clocks.wall_ns = std::chrono::nanoseconds(now).count();
    clocks.cpu_ns = cpu;
    clocks.ready_ns = ready;
    clocks.sleeps = usage.ru_nvcsw;
    return clocks;
  }

 private:
  Descriptor schedstat_ = Checked(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC),
                                  "cannot open /proc/thread-self/schedstat");
};

void Measure(const std::string& directory, std::size_t bytes, std::chrono::milliseconds time) {
  DiskCounters counters;
  DiskFiles files(OpenDataDirectory(directory), counters);
  IoRequest request;
  request.kind = IoRequest::Kind::kAppend;
  request.sync = true;
  request.file = "log";
  request.data = MakeBytes(std::string(bytes, 'x'));
  const auto batch = [&] {
    const auto done = files.Run(std::span(&request, 1));
    if (done[0].error != 0)
      throw std::system_error(done[0].error, std::generic_category(), "write");
  };
  batch();  // the file is there

  ThreadClocks clocks;
  std::vector<std::int64_t> asleep;
  const Clocks first = clocks.Read();
  Clocks last = first;
  while (last.wall_ns - first.wall_ns < std::chrono::nanoseconds(time).count()) {
    const Clocks before = last;
    batch();
    last = clocks.Read();
    const std::int64_t awake = last.cpu_ns - before.cpu_ns + last.ready_ns - before.ready_ns;
    asleep.push_back(last.wall_ns - before.wall_ns - awake);
  }
  std::printf("{\"batches\":%zu,\"wall_ns\":%lld,\"cpu_ns\":%lld,\"sleeps\":%lld,\"asleep_ns\":[",
              asleep.size(), static_cast<long long>(last.wall_ns - first.wall_ns),
              static_cast<long long>(last.cpu_ns - first.cpu_ns),
              static_cast<long long>(last.sleeps - first.sleeps));
  for (std::size_t i = 0; i < asleep.size(); ++i) {
    std::printf("%s%lld", i == 0 ? "" : ",", static_cast<long long>(asleep[i]));
  }
  std::printf("]}\n");
}

}  // namespace
}  // namespace depfast::real

// Exit status: 0, or 2 with one line that says why.
int main(int argc, char** argv) {
  using namespace depfast::real;
  try {
    if (argc != 4) throw std::invalid_argument(kUsage);
    Measure(argv[1], static_cast<std::size_t>(ParseNumber(argv[2])),
            std::chrono::milliseconds(ParseNumber(argv[3])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate_disk: %s\n", error.what());
    return 2;
  }
}
