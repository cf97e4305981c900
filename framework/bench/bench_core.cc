// The costs of the core. The bar: coroutine_switch takes at most twice boost_switch, which is the
// same pair of switches without our exception state, guard checks and bookkeeping.
#include <benchmark/benchmark.h>

#include <boost/coroutine2/coroutine.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/fiber.h"
#include "depfast/host/codec.h"
#include "depfast/host/hosted_runtime.h"
#include "depfast/value_event.h"
#include "idle_host.h"

namespace depfast {
namespace {

void CoroutineSwitch(benchmark::State& state) {
  Fiber* self = nullptr;
  bool stop = false;
  Fiber fiber(64 * 1024, [&] {
    while (!stop) self->Yield();
  });
  self = &fiber;
  for (auto _ : state) fiber.Resume();
  stop = true;
  fiber.Resume();
}
BENCHMARK(CoroutineSwitch)->Name("coroutine_switch");

void BoostSwitch(benchmark::State& state) {
  using Coroutine = boost::coroutines2::coroutine<void>;
  Coroutine::pull_type coroutine([](Coroutine::push_type& yield) {
    for (;;) yield();
  });
  for (auto _ : state) coroutine();
}
BENCHMARK(BoostSwitch)->Name("boost_switch");

// One iteration: a wakes b, waits, and is woken by b. Two waits, two triggers.
void EventWaitTrigger(benchmark::State& state) {
  IdleHost host;
  HostedRuntime runtime(host, {});
  std::shared_ptr<ValueEvent<bool>> ping;
  std::shared_ptr<ValueEvent<bool>> pong;
  const auto is_set = [](const bool& value) { return value; };
  runtime.Enter([&] {
    ping = std::make_shared<ValueEvent<bool>>("ping", false, is_set);
    pong = std::make_shared<ValueEvent<bool>>("pong", false, is_set);
  });
  bool stop = false;
  runtime.Spawn("ping", [&] {
    for (auto _ : state) {
      ping->Set(true);
      pong->Wait();
      pong->Set(false);
    }
    stop = true;
    ping->Set(true);
  });
  runtime.Spawn("pong", [&] {
    for (;;) {
      ping->Wait();
      if (stop) return;
      ping->Set(false);
      pong->Set(true);
    }
  });
  while (!stop) {
    try {
      runtime.Run();
    } catch (const RunawayError&) {
      state.SkipWithError("more iterations than a step may have resumptions");
      return;
    }
  }
}
BENCHMARK(EventWaitTrigger)->Name("event_wait_trigger")->Iterations(2'000'000);

void SpawnRun(benchmark::State& state) {
  IdleHost host;
  HostedRuntime runtime(host, {});
  std::int64_t ran = 0;
  for (auto _ : state) {
    runtime.Spawn("task", [&ran] { ++ran; });
    runtime.Run();
  }
  benchmark::DoNotOptimize(ran);
}
BENCHMARK(SpawnRun)->Name("spawn_run");

struct Entry {
  std::uint64_t term = 0;
  std::string command;
  DEPFAST_FIELDS(term, command)
};
struct Append {
  std::uint64_t term = 0;
  std::vector<Entry> entries;
  DEPFAST_FIELDS(term, entries)
};

// Encodes and decodes a request whose number of commands is the range; each has 100 bytes.
void FrameEncodeDecode(benchmark::State& state) {
  Append request;
  request.term = 3;
  request.entries.assign(static_cast<std::size_t>(state.range(0)), {3, std::string(100, 'c')});
  FrameHeader header;
  header.call = 123456;
  std::int64_t size = 0;
  for (auto _ : state) {
    const std::string bytes = EncodeFrame(header, request);
    std::string error;
    const auto frame = DecodeFrame(bytes, error);
    auto body = DecodeBody<Append>(frame->body, error);
    benchmark::DoNotOptimize(body);
    size += static_cast<std::int64_t>(bytes.size());
  }
  state.SetBytesProcessed(size);
}
BENCHMARK(FrameEncodeDecode)->Name("frame_encode_decode")->Arg(0)->Arg(1)->Arg(20);

}  // namespace
}  // namespace depfast

BENCHMARK_MAIN();
