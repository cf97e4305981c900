// A sealed replica's process: no clock, no entropy, no sockets; two pipes to the simulator.
//
// Everything it does happens in a step that the simulator asked for. It links the student's code,
// and therefore decides nothing: it answers, and the simulator believes only what it can check.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "core/stack_overflow.h"
#include "depfast/host/service.h"
#include "sealed/heap.h"
#include "sealed/protocol.h"
#include "sim/step_host.h"

namespace depfast::sealed {
namespace {

[[noreturn]] void Quit(const char* why) {
  std::fprintf(stderr, "sealed replica: %s\n", why);
  std::_Exit(2);
}

// Reads at least `least` bytes, and at most `most`. Returns how many.
std::size_t Read(char* to, std::size_t least, std::size_t most) {
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

// The simulator waits for our answer before it sends again, so one read takes most messages whole.
std::string ReadMessage() {
  static std::array<char, 1 << 16> start;  // not on the heap, which is counted
  const std::size_t filled = Read(start.data(), kLengthBytes, start.size()) - kLengthBytes;
  std::string message(DecodeLength(start.data()), '\0');
  if (filled > message.size()) Quit("the simulator sent more than one message");
  std::copy_n(start.data() + kLengthBytes, filled, message.data());
  const std::size_t rest = message.size() - filled;
  Read(message.data() + filled, rest, rest);
  return message;
}

void WriteFully(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t put = write(kToSimulator, bytes.data() + at, bytes.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) Quit("cannot write to the simulator");
    at += static_cast<std::size_t>(put);
  }
}

// The first message.
std::unique_ptr<sim::StepHost> Boot(const std::string& message) {
  if (DecodeRequest(message) != Request::kBoot) throw ProtocolError("not booted");
  return std::make_unique<sim::StepHost>(DecodeBoot(message), MakeService);
}

std::string Step(sim::StepHost& host, const std::string& message, std::int64_t heap_bytes) {
  sim::StepOutput output = host.Step(DecodeStep(message));
  output.heap_bytes = static_cast<std::uint64_t>(heap_bytes);
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

// Between two messages the heap holds the data of the replica alone. What was there before its
// first step is not counted: it depends on the libraries and on the probes.
[[noreturn]] void Serve() {
  const std::unique_ptr<sim::StepHost> host = Boot(ReadMessage());
  WriteFully(EncodePlain(Request::kBoot));
  const std::int64_t before = HeapBytes();
  for (;;) {
    const std::int64_t heap_bytes = std::max<std::int64_t>(0, HeapBytes() - before);
    WriteFully(Answer(*host, ReadMessage(), heap_bytes));
  }
}

}  // namespace
}  // namespace depfast::sealed

int main() {
  depfast::InstallStackOverflowHandler();
  try {
    depfast::sealed::Serve();
  } catch (const std::exception& error) {
    depfast::sealed::Quit(error.what());
  }
}
