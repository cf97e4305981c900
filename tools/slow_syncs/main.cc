// slow_syncs: runs a program, and makes its syncs of files slow while a fault of the disk is on.
//
//   slow_syncs --faults FILE [--counts FILE] -- PROGRAM [WORD...]
//
// FILE is a file of faults (real/fault_file.h), and is made here. A sync flushes what the program
// has written, so it pays for the bytes. The file of --counts has two numbers: the syncs so far,
// and those that a fault made longer (failslow/extras/faults/effect_counts.py reads it). The
// program ends with slow_syncs, and slow_syncs with the program, with its exit status. Where the
// kernel cannot do this: one line, and 1.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caught_program.h"
#include "real/slow_disk.h"

namespace depfast::real {
namespace {

// More syncs than a program has files. Others wait for their turn.
constexpr int kSyncsAtATime = 16;

// Counts syncs in a file, on top of those of an earlier run of the program.
class SyncCounts {
 public:
  explicit SyncCounts(const std::string& path)
      : file_(Checked(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644), "open " + path)) {
    if (pread(file_.get(), counts_.data(), sizeof counts_, 0) != ssize_t{sizeof counts_}) {
      counts_ = {};
    }
  }

  void Add(bool is_slow) {
    const std::lock_guard lock(mutex_);
    ++counts_[0];
    if (is_slow) ++counts_[1];
    if (pwrite(file_.get(), counts_.data(), sizeof counts_, 0) < 0) ThrowErrno("write the counts");
  }

 private:
  const Descriptor file_;
  std::mutex mutex_;  // of counts_
  std::array<std::int64_t, 2> counts_{};
};

class SlowSyncs {
 public:
  SlowSyncs(pid_t program, std::shared_ptr<const FaultFile> faults,
            std::unique_ptr<SyncCounts> counts)
      : disk_(std::move(faults)), counts_(std::move(counts)) {
    if (!WrittenBytes(program)) {
      throw std::system_error(ENOTSUP, std::generic_category(),
                              "the kernel counts no written bytes");
    }
  }

  int Sync(int number, int fd, pid_t process) {
    const std::int64_t bytes = TakeWrittenBytes(process);
    const Time began = disk_.Now();
    const int result = static_cast<int>(syscall(number, fd)) == 0 ? 0 : -errno;
    const bool is_slow = disk_.Finish(began, bytes);
    if (counts_) counts_->Add(is_slow);
    return result;
  }

 private:
  // Those that no sync of the process has paid for yet, whichever file they are in.
  std::int64_t TakeWrittenBytes(pid_t process) {
    const std::lock_guard lock(mutex_);
    std::int64_t& paid = paid_[process];
    const std::int64_t now = WrittenBytes(process).value_or(paid);
    return std::max<std::int64_t>(0, now - std::exchange(paid, now));  // an id may be used again
  }

  SlowDisk disk_;
  const std::unique_ptr<SyncCounts> counts_;
  std::mutex mutex_;  // of paid_
  std::map<pid_t, std::int64_t> paid_;
};

// Returns the program's exit status.
int Run(const std::string& faults, const std::string& count_file,
        const std::vector<std::string>& words) {
  const auto file = std::make_shared<const FaultFile>(faults);
  auto counts = count_file.empty() ? nullptr : std::make_unique<SyncCounts>(count_file);
  const CaughtProgram program(words);
  SlowSyncs syncs(program.pid(), file, std::move(counts));
  for (int i = 0; i < kSyncsAtATime; ++i) {
    std::thread([&] {
      program.Serve(
          [&](int number, int fd, pid_t process) { return syncs.Sync(number, fd, process); });
    }).detach();
  }
  // The threads use what is on this stack.
  std::_Exit(program.Wait());
}

}  // namespace
}  // namespace depfast::real

int main(int argc, char** argv) {
  CLI::App app("Runs a program whose syncs of files may be slow.", "slow_syncs");
  std::string faults;
  std::string count_file;
  std::vector<std::string> words;
  app.add_option("--faults", faults, "the file of faults")->required();
  app.add_option("--counts", count_file, "the file of the number of syncs");
  app.add_option("program", words, "the program and its words, after --")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& call) {
    return app.exit(call);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slow_syncs: %s\n", error.what());
    return 2;
  }
  try {
    return depfast::real::Run(faults, count_file, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slow_syncs: %s\n", error.what());
    return 1;
  }
}
