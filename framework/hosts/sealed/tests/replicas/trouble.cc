// A replica that is bad in the way that a client names.
#include "trouble.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "sealed/protocol.h"

namespace depfast::sealed_tests {
namespace {

// Writes bytes to the simulator that its protocol does not know.
void Write(const std::string& bytes) {
  [[maybe_unused]] const auto written = write(sealed::kToSimulator, bytes.data(), bytes.size());
}

// Writes more than the log of a replica can take.
void Print(std::FILE* stream) {
  const std::string line(1000, 'z');
  for (int i = 0; i < 3000; ++i) std::fputs((line + "\n").c_str(), stream);
  std::fflush(stream);
}

// Dies of it the second time.
void Chatter() {
  static bool again = false;
  if (again) std::fputs("these are my last words\n", stderr);
  Print(stdout);
  if (again) _exit(4);
  again = true;
}

struct alignas(64) Wide {
  char bytes[64];
};

// Requests 1,000,064 bytes of the heap and keeps them; the next call returns them.
void Hoard() {
  static std::unique_ptr<std::string> text;
  static std::unique_ptr<Wide> wide;
  const bool again = wide != nullptr;
  text.reset(again ? nullptr : new std::string(1'000'000 - sizeof(std::string) - 1, 'h'));
  wide.reset(again ? nullptr : new Wide());
}

// Uses 64 MB that the heap's count does not know.
void HoardElsewhere() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  static auto* const volatile somewhere = static_cast<char*>(std::malloc(kBytes));
  std::memset(somewhere, 'h', kBytes);
}

// The child keeps everything open, and outlives every step.
void StartChild() {
  if (fork() == 0) {
    for (;;) pause();
  }
}

volatile int depth_max = 1'000'000'000;

int Dig(int depth) {
  volatile char room[512] = {};
  if (depth >= depth_max) return room[0];
  return Dig(depth + 1) + room[1];
}

void Crash() {
  static volatile std::uintptr_t nowhere = 64;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

void Spin() {
  static volatile bool for_ever = true;
  while (for_ever) {
  }
}

// Nondeterministic: where things are in memory reaches the host.
void ShowAddress(Runtime& runtime) {
  static int somewhere = 0;
  const auto on_heap = std::make_unique<int>(1);
  runtime.Observe({1,
                   {reinterpret_cast<std::uintptr_t>(&somewhere),
                    reinterpret_cast<std::uintptr_t>(on_heap.get()), 0, 0}});
}

// Nondeterministic: a byte that was never written reaches the host.
void ShowMemory(Runtime& runtime) {
  constexpr std::size_t kBytes = 2000;
  const auto* volatile fresh = static_cast<unsigned char*>(std::malloc(kBytes));
  runtime.Observe({1, {fresh[kBytes / 2], 0, 0, 0}});
  std::free(const_cast<unsigned char*>(fresh));
}

const std::map<std::string, void (*)(Runtime&)> kTroubles = {
    {"babbles", [](Runtime&) { Write(std::string("\x05\0\0\0hello", 9)); }},
    {"blocks", [](Runtime&) { pause(); }},
    {"chatters", [](Runtime&) { Chatter(); }},
    {"complains", [](Runtime&) { Print(stderr); }},
    {"exaggerates", [](Runtime&) { Write("\xff\xff\xff\xff"); }},  // four gigabytes follow
    {"exits", [](Runtime&) { _exit(3); }},
    {"forks",
     [](Runtime&) {
       StartChild();
       _exit(5);
     }},
    {"forks and lives", [](Runtime&) { StartChild(); }},
    {"hoards", [](Runtime&) { Hoard(); }},
    {"hoards elsewhere", [](Runtime&) { HoardElsewhere(); }},
    {"hangs up",
     [](Runtime&) {
       close(sealed::kFromSimulator);
       close(sealed::kToSimulator);
       pause();
     }},
    {"overflows", [](Runtime&) { Dig(0); }},
    {"segfaults", [](Runtime&) { Crash(); }},
    {"shows address", ShowAddress},
    {"shows memory", ShowMemory},
    {"spins", [](Runtime&) { Spin(); }},
    {"throws",
     [](Runtime& runtime) {
       runtime.Spawn("thrower", [] { throw std::runtime_error("out of luck"); });
     }},
};

class TroubleMaker : public Service {
 public:
  explicit TroubleMaker(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    ServeEcho(runtime_.rpc());
    runtime_.rpc().Handle<MakeTrouble>([this](PeerId, const MakeTrouble& request) {
      kTroubles.at(request.kind)(runtime_);
      return TextReply{"no trouble after all"};
    });
  }

 private:
  Runtime& runtime_;
};

}  // namespace
}  // namespace depfast::sealed_tests

std::unique_ptr<depfast::Service> depfast::MakeService(depfast::Runtime& runtime) {
  return std::make_unique<depfast::sealed_tests::TroubleMaker>(runtime);
}
