// A sealed replica's process: no clock, no entropy, no sockets; two pipes to the simulator.
//
// Everything it does happens in a step that the simulator asked for. It links the student's code,
// and therefore decides nothing: it answers, and the simulator believes only what it can check.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "core/stack_overflow.h"
#include "depfast/host/service.h"
#include "sealed/protocol.h"
#include "sim/step_host.h"

namespace depfast::sealed {
namespace {

[[noreturn]] void Quit(const char* why) {
  std::fprintf(stderr, "sealed replica: %s\n", why);
  std::_Exit(2);
}

void ReadFully(char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t got = read(kFromSimulator, to, size);
    if (got == 0) std::_Exit(0);  // the simulator has gone: so has our world
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Quit("cannot read from the simulator (is this started by the grader?)");
    to += got;
    size -= static_cast<std::size_t>(got);
  }
}

std::string ReadMessage() {
  char length[kLengthBytes];
  ReadFully(length, sizeof length);
  std::string message(DecodeLength(length), '\0');
  ReadFully(message.data(), message.size());
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

std::string Answer(const std::string& message, std::unique_ptr<sim::StepHost>& host) {
  const Request request = DecodeRequest(message);
  if (request != Request::kBoot && host == nullptr) throw ProtocolError("not booted");
  switch (request) {
    case Request::kBoot:
      host = std::make_unique<sim::StepHost>(DecodeBoot(message), MakeService);
      return EncodePlain(Request::kBoot);
    case Request::kStep:
      return EncodeOutput(host->Step(DecodeStep(message)));
    case Request::kDump:
      return EncodeText(host->DumpCoroutines());
    case Request::kReport:
      return EncodeText(host->Report(DecodeReportRequest(message)));
  }
  throw ProtocolError("unknown request");
}

}  // namespace
}  // namespace depfast::sealed

int main() {
  depfast::InstallStackOverflowHandler();
  std::unique_ptr<depfast::sim::StepHost> host;
  try {
    for (;;) {
      depfast::sealed::WriteFully(depfast::sealed::Answer(depfast::sealed::ReadMessage(), host));
    }
  } catch (const std::exception& error) {
    depfast::sealed::Quit(error.what());
  }
}
