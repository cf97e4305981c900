// A sealed replica's process: no clock, no entropy, no sockets; two pipes to the simulator.
//
// Everything it does happens in a step that the simulator asked for. It links the student's code,
// and therefore decides nothing: it answers, and the simulator believes only what it can check.
#include <unistd.h>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "depfast/host/service.h"
#include "sealed/crash_message.h"
#include "sealed/heap.h"
#include "sealed/protocol.h"
#include "sim/step_host.h"

namespace depfast::sealed {
namespace {

// Messages and disks are long strings that come and go. Pages that are given back to the kernel
// each time are zeroed again each time. And memory that comes from the kernel is not filled by
// MALLOC_PERTURB_. Only the GNU C library can be told so.
void KeepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kBytes = 32 << 20;  // the largest threshold
  mallopt(M_MMAP_THRESHOLD, kBytes);
  mallopt(M_TRIM_THRESHOLD, kBytes);
#endif
}

[[noreturn]] void Quit(const char* why) {
  std::fprintf(stderr, "sealed replica: %s\n", why);
  std::_Exit(2);
}

// Answers leave together when their reader has to wait: in lock-step at once, for a twin in
// batches. Both buffers are not on the heap, which is counted.
class Answers {
 public:
  static void Add(const std::string& answer) {
    if (answer.size() > buffer_.size() - filled_) Flush();
    if (answer.size() > buffer_.size()) return Write(answer.data(), answer.size());
    std::copy(answer.begin(), answer.end(), buffer_.data() + filled_);
    filled_ += answer.size();
  }

  static void Flush() { Write(buffer_.data(), std::exchange(filled_, 0)); }

 private:
  static void Write(const char* bytes, std::size_t size) {
    for (std::size_t at = 0; at < size;) {
      const ssize_t put = write(kToSimulator, bytes + at, size - at);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) Quit("cannot write to the simulator");
      at += static_cast<std::size_t>(put);
    }
  }

  static inline std::array<char, 1 << 16> buffer_;
  static inline std::size_t filled_ = 0;
};

class Messages {
 public:
  static std::string Next() {
    std::array<char, kLengthBytes> length{};
    Take(length.data(), length.size());
    std::string message(DecodeLength(length.data()), '\0');
    Take(message.data(), message.size());
    return message;
  }

 private:
  static void Take(char* to, std::size_t size) {
    const std::size_t buffered = std::min(size, filled_ - at_);
    std::copy_n(buffer_.data() + at_, buffered, to);
    at_ += buffered;
    if (buffered == size) return;
    at_ = filled_ = 0;
    if (size - buffered >= buffer_.size()) {  // a copy would be a waste
      Read(to + buffered, size - buffered, size - buffered);
      return;
    }
    filled_ = Read(buffer_.data(), size - buffered, buffer_.size());
    Take(to + buffered, size - buffered);
  }

  // Reads at least `least` bytes, and at most `most`. Returns how many.
  static std::size_t Read(char* to, std::size_t least, std::size_t most) {
    Answers::Flush();
    std::size_t filled = 0;
    while (filled < least) {
      const ssize_t got = read(kFromSimulator, to + filled, most - filled);
      if (got == 0) std::_Exit(0);  // the simulator has gone: so has our world
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) Quit("cannot read from the simulator (is this started by the grader?)");
      filled += static_cast<std::size_t>(got);
    }
    return filled;
  }

  static inline std::array<char, 1 << 16> buffer_;
  static inline std::size_t at_ = 0;
  static inline std::size_t filled_ = 0;
};

// The first message.
std::unique_ptr<sim::StepHost> Boot(const std::string& message) {
  if (DecodeRequest(message) != Request::kBoot) throw ProtocolError("not booted");
  return std::make_unique<sim::StepHost>(DecodeBoot(message), MakeService);
}

std::string Step(sim::StepHost& host, const std::string& message, std::int64_t heap_bytes) {
  sim::StepOutput output = host.Step(DecodeStep(message));
  output.heap_bytes = static_cast<std::uint64_t>(heap_bytes);
  if (!output.death.empty()) output.death += PlaceOfLatestThrow();
  return EncodeOutput(output);
}

// `heap_bytes`: see StepOutput.
std::string Answer(sim::StepHost& host, const std::string& message, std::int64_t heap_bytes) {
  switch (DecodeRequest(message)) {
    case Request::kBoot:
      throw ProtocolError("booted already");
    case Request::kStep:
      return Step(host, message, heap_bytes);
    case Request::kDump:
      return EncodeText(host.DumpCoroutines());
    case Request::kReport:
      return EncodeText(host.Report(DecodeReportRequest(message)));
  }
  throw ProtocolError("unknown request");
}

// Between two messages the heap holds the data of the replica alone. Bytes from before its first
// step are not counted, because they depend on the libraries and on the probes: 80 KB. No static
// object of a replica hides a store there.
constexpr std::int64_t kHeapBytesBefore = 128 << 10;

[[noreturn]] void Serve() {
  const std::unique_ptr<sim::StepHost> host = Boot(Messages::Next());
  Answers::Add(EncodePlain(Request::kBoot));
  const std::int64_t before = std::min(HeapBytes(), kHeapBytesBefore);
  for (;;) {
    const std::int64_t heap_bytes = std::max<std::int64_t>(0, HeapBytes() - before);
    Answers::Add(Answer(*host, Messages::Next(), heap_bytes));
  }
}

}  // namespace
}  // namespace depfast::sealed

// The C library of Ubuntu 22.04 asks for the kernel's version before main. The system call behind
// it would tell machines apart, so no replica may make it.
extern "C" int __wrap__dl_discover_osversion() {
  constexpr int kLinux6 = 6 << 16;
  return kLinux6;
}

int main() {
  depfast::sealed::KeepFreedMemory();
  depfast::sealed::InstallCrashMessages();
  try {
    depfast::sealed::Serve();
  } catch (const std::exception& error) {
    depfast::sealed::Quit(error.what());
  }
}
