// slow_syncs: runs a program, and makes its syncs of files slow while a fault of the disk is on.
//
//   slow_syncs --faults FILE -- PROGRAM [WORD...]
//
// FILE is a file of faults (real/fault_file.h), and is made here. A sync flushes what the program
// has written, so it pays for the bytes. The program ends with slow_syncs, and slow_syncs with the
// program, with its exit status. Where the kernel cannot do this: one line, and 1.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
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

class SlowSyncs {
 public:
  SlowSyncs(const CaughtProgram& program, std::shared_ptr<const FaultFile> faults)
      : program_(program), disk_(std::move(faults)), paid_(program.WrittenBytes()) {}

  int Sync(int number, int fd) {
    const std::int64_t bytes = TakeWrittenBytes();
    const Time began = disk_.Now();
    const int result = static_cast<int>(syscall(number, fd)) == 0 ? 0 : -errno;
    disk_.Finish(began, bytes);
    return result;
  }

 private:
  // Those that no sync has paid for yet, whichever file they are in.
  std::int64_t TakeWrittenBytes() {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = program_.WrittenBytes();
    return now - std::exchange(paid_, now);
  }

  const CaughtProgram& program_;
  SlowDisk disk_;
  std::mutex mutex_;  // of paid_
  std::int64_t paid_;
};

// Returns the program's exit status.
int Run(const std::string& faults, const std::vector<std::string>& words) {
  const auto file = std::make_shared<const FaultFile>(faults);
  const CaughtProgram program(words);
  SlowSyncs syncs(program, file);
  for (int i = 0; i < kSyncsAtATime; ++i) {
    std::thread([&] {
      program.Serve([&](int number, int fd) { return syncs.Sync(number, fd); });
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
  std::vector<std::string> words;
  app.add_option("--faults", faults, "the file of faults")->required();
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
    return depfast::real::Run(faults, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slow_syncs: %s\n", error.what());
    return 1;
  }
}
