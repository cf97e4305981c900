// What one batch of a replica's disk costs on this machine, carried out as the real host does it.
// Prints one line of JSON. `kit bench calibrate` runs one of these for each replica, all at once.
//
// append: BYTES to a log, and a sync. replace: as when a replica compacts its log, a log of 3 MiB
// gets a successor of BYTES, and a small file one, too; and a sync.
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

constexpr const char* kUsage = "usage: calibrate_disk append|replace DIRECTORY BYTES MILLISECONDS";
constexpr std::size_t kReplacedBytes = std::size_t{3} << 20;
constexpr std::size_t kSmallBytes = 4096;

std::int64_t ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 ||
      number > 10'000'000) {
    throw std::invalid_argument("'" + std::string(text) + "' is not a number from 1 to 10000000");
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

IoRequest Append(const std::string& file, std::size_t bytes) {
  IoRequest request;
  request.kind = IoRequest::Kind::kAppend;
  request.sync = true;
  request.file = file;
  request.data = MakeBytes(std::string(bytes, 'x'));
  return request;
}

IoRequest Rename(const std::string& from, const std::string& to) {
  IoRequest request;
  request.kind = IoRequest::Kind::kRename;
  request.sync = true;
  request.file = from;
  request.to = to;
  return request;
}

using Batch = std::vector<IoRequest>;

void Run(DiskFiles& files, const Batch& batch) {
  for (const IoCompletion& done : files.Run(batch)) {
    if (done.error != 0) throw std::system_error(done.error, std::generic_category(), "write");
  }
}

// `before` each batch comes one that is not measured, unless it is empty.
void Measure(const std::string& directory, const Batch& before, const Batch& batch,
             std::chrono::milliseconds time) {
  DiskCounters counters;
  DiskFiles files(OpenDataDirectory(directory), counters);
  Run(files, batch);  // the files are there

  ThreadClocks clocks;
  std::vector<std::int64_t> asleep;
  std::int64_t sleeps = 0;
  const std::int64_t end = clocks.Read().wall_ns + std::chrono::nanoseconds(time).count();
  for (Clocks last{}; last.wall_ns < end;) {
    if (!before.empty()) Run(files, before);
    const Clocks first = clocks.Read();
    Run(files, batch);
    last = clocks.Read();
    const std::int64_t cpu = last.cpu_ns - first.cpu_ns;
    asleep.push_back(last.wall_ns - first.wall_ns - cpu - (last.ready_ns - first.ready_ns));
    sleeps += last.sleeps - first.sleeps;
  }
  std::printf("{\"batches\":%zu,\"sleeps\":%lld,\"asleep_ns\":[", asleep.size(),
              static_cast<long long>(sleeps));
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
    const std::string what = argc == 5 ? argv[1] : "";
    if (what != "append" && what != "replace") throw std::invalid_argument(kUsage);
    const auto bytes = static_cast<std::size_t>(ParseNumber(argv[3]));
    const std::chrono::milliseconds time(ParseNumber(argv[4]));
    if (what == "append") {
      Measure(argv[2], {}, {Append("log", bytes)}, time);
    } else {
      Measure(argv[2], {Append("log", kReplacedBytes)},
              {Append("new", kSmallBytes), Rename("new", "small"), Append("new", bytes),
               Rename("new", "log")},
              time);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate_disk: %s\n", error.what());
    return 2;
  }
}
