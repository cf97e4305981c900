// RPC between two processes on the loopback, each a whole replica. One iteration is one call. It is
// a request of 100 bytes, served by a coroutine of its own, with a reply of 100 bytes. One of
// `outstanding` coroutines waits for it. Both processes share a core (cores:1) or have one each
// (cores:2).
//
// kernel_ping_pong is the same exchange without the kit: blocking sockets, one string of bytes
// there and back. With one outstanding call no program that sleeps while it waits can be faster. In
// a virtual machine most of the time is the wake-up of the other core. Therefore a shared core is
// quicker there.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "depfast/value_event.h"
#include "real/connection.h"
#include "real/real_host.h"
#include "support/echo.h"

namespace depfast::real {
namespace {

constexpr PeerId kServer = 0;
constexpr PeerId kCaller = 1;
constexpr std::size_t kPayloadBytes = 100;

void PinTo(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  // Not allowed to (a container's choice of cores): then the kernel places us.
  [[maybe_unused]] const int ignored = sched_setaffinity(0, sizeof set, &set);
}

unsigned LastCore() { return std::max(1u, std::thread::hardware_concurrency()) - 1; }

// A child process that runs `body` on `core`; ended with the object.
class Child {
 public:
  Child(unsigned core, const std::function<void()>& body) {
    std::fflush(nullptr);  // or the child would print it, too
    pid_ = fork();
    if (pid_ != 0) return;
    PinTo(core);
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_rpc: the server failed: %s\n", error.what());
    }
    _exit(0);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

 private:
  pid_t pid_;
};

class TempDir {
 public:
  TempDir() {
    path_ = (std::filesystem::temp_directory_path() / "bench-rpc-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) ThrowErrno("mkdtemp");
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class Server final : public Service {
 public:
  explicit Server(Runtime& runtime) : runtime_(runtime) {}
  void Start() override { ServeEcho(runtime_.rpc()); }

 private:
  Runtime& runtime_;
};

// Makes the calls of one benchmark, then calls `done`.
class Caller final : public Service {
 public:
  Caller(Runtime& runtime, benchmark::State& state, std::function<void()> done)
      : runtime_(runtime), state_(state), done_(std::move(done)) {}

  void Start() override {
    runtime_.Spawn("benchmark", [this] {
      CallOnce();  // the connections are up once this is answered
      while (state_.KeepRunningBatch(state_.max_iterations)) CallMany();
      done_();
    });
  }

 private:
  void CallOnce() {
    const auto call = runtime_.rpc().Call(kServer, Echo{payload_});
    if (call->Wait() != Outcome::kReady) state_.SkipWithError("a call failed");
  }

  void CallMany() {
    const auto workers = static_cast<int>(state_.range(0));
    const auto ended = std::make_shared<IntEvent>("all calls", workers);
    auto left = std::make_shared<std::int64_t>(state_.max_iterations);
    for (int i = 0; i < workers; ++i) {
      runtime_.Spawn("caller", [this, ended, left] {
        while ((*left)-- > 0) CallOnce();
        ended->Add();
      });
    }
    ended->Wait();
  }

  Runtime& runtime_;
  benchmark::State& state_;
  const std::function<void()> done_;
  const std::string payload_ = std::string(kPayloadBytes, 'p');
};

RealHostOptions OptionsFor(PeerId self, const std::vector<Endpoint>& replicas, int listener,
                           const TempDir& data) {
  RealHostOptions options;
  options.self = self;
  options.replicas = replicas;
  options.data_dir = data / std::to_string(self);
  options.listen_fd = dup(listener);
  return options;
}

// Another core than the caller's, if the benchmark wants two.
unsigned ServerCore(std::int64_t cores) { return cores == 1 ? LastCore() : 0; }

void Rpc(benchmark::State& state) {
  TempDir data;
  std::vector<Descriptor> listeners;
  std::vector<Endpoint> replicas;
  for (int i = 0; i < 2; ++i) {
    listeners.push_back(Listen({"127.0.0.1", 0}));
    replicas.push_back({"127.0.0.1", PortOf(listeners.back().get())});
  }
  Child server(ServerCore(state.range(1)), [&] {
    RealHost host(OptionsFor(kServer, replicas, listeners[0].get(), data),
                  [](Runtime& runtime) { return std::make_unique<Server>(runtime); });
    host.Run();
  });
  RealHost* running = nullptr;
  RealHost host(OptionsFor(kCaller, replicas, listeners[1].get(), data), [&](Runtime& runtime) {
    return std::make_unique<Caller>(runtime, state, [&running] { running->Stop(); });
  });
  running = &host;
  host.Run();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Rpc)
    ->Name("rpc")
    ->ArgNames({"outstanding", "cores"})
    ->ArgsProduct({{1, 16, 128}, {1, 2}})
    ->UseRealTime();

// Sends or receives all of `size` bytes. False when the other side has gone.
template <typename Call>
bool Whole(Call call, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t moved = call(done, size - done);
    if (moved <= 0) return false;
    done += static_cast<std::size_t>(moved);
  }
  return true;
}

bool Exchange(int fd, std::string& bytes, bool send_first) {
  const auto put = [&] {
    return Whole([&](auto at, auto left) { return send(fd, &bytes[at], left, MSG_NOSIGNAL); },
                 bytes.size());
  };
  const auto get = [&] {
    return Whole([&](auto at, auto left) { return recv(fd, &bytes[at], left, 0); }, bytes.size());
  };
  return send_first ? put() && get() : get() && put();
}

void KernelPingPong(benchmark::State& state) {
  const Descriptor listener(Listen({"127.0.0.1", 0}));
  std::string bytes(kPayloadBytes, 'p');
  const sockaddr_in address = Resolve({"127.0.0.1", PortOf(listener.get())});
  Child server(ServerCore(state.range(0)), [&] {
    const Descriptor socket = Checked(::socket(AF_INET, SOCK_STREAM, 0), "socket");
    ConfigureSocket(socket.get());
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ThrowErrno("connect");
    }
    while (Exchange(socket.get(), bytes, /*send_first=*/false)) continue;
  });
  pollfd incoming = {listener.get(), POLLIN, 0};
  poll(&incoming, 1, 10'000);
  const Descriptor socket = Checked(accept(listener.get(), nullptr, nullptr), "accept");
  ConfigureSocket(socket.get());
  for (auto _ : state) {
    if (!Exchange(socket.get(), bytes, /*send_first=*/true)) {
      state.SkipWithError("the other side has gone");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(KernelPingPong)
    ->Name("kernel_ping_pong")
    ->ArgName("cores")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();

}  // namespace
}  // namespace depfast::real

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  depfast::real::PinTo(depfast::real::LastCore());
  benchmark::RunSpecifiedBenchmarks();
}
