// calibrate_disk: measures one batch of a replica's disk on this machine, with the code of the real
// host. It prints one line of JSON. `kit bench calibrate` runs one process for each replica at
// once.
//
// "append" writes BYTES to a log and syncs. "replace" imitates a compaction: a log of 3 MiB is
// replaced by one of BYTES, a small file by another, and both are synced.
//
// The time of a batch has three parts: the thread runs, it waits for the core, or it sleeps until
// the device is done. The simulator computes the second part; this program measures the others.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "program.h"
#include "real/descriptor.h"
#include "real/disk_files.h"

namespace depfast::real {
namespace {

constexpr std::size_t kReplacedBytes = std::size_t{3} << 20;
constexpr std::size_t kSmallBytes = 4096;

// Times and counts of this thread since its start.
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

// Runs `batch` again and again and measures it. `before` runs first each time and is not measured.
Json Measure(const std::string& directory, const Batch& before, const Batch& batch,
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
  return {{"batches", asleep.size()}, {"sleeps", sleeps}, {"asleep_ns", asleep}};
}

}  // namespace
}  // namespace depfast::real

int main(int argc, char** argv) {
  using namespace depfast::real;
  std::string what;
  std::string directory;
  std::size_t bytes = 0;
  int milliseconds = 0;
  CLI::App app("Measures the costs of one batch of a replica's disk.", "calibrate_disk");
  app.add_option("what", what)->required()->check(CLI::IsMember({"append", "replace"}));
  app.add_option("directory", directory)->required();
  app.add_option("bytes", bytes)->required()->check(CLI::Range(1, 10'000'000));
  app.add_option("milliseconds", milliseconds)->required()->check(depfast::kPositive);
  return depfast::RunProgram(app, argc, argv, [&] {
    const std::chrono::milliseconds time(milliseconds);
    if (what == "append") return Measure(directory, {}, {Append("log", bytes)}, time);
    return Measure(directory, {Append("log", kReplacedBytes)},
                   {Append("new", kSmallBytes), Rename("new", "small"), Append("new", bytes),
                    Rename("new", "log")},
                   time);
  });
}
