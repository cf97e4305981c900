#include "real/real_host.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "echo_service.h"
#include "running_host.h"
#include "support.h"

namespace depfast::real {
namespace {

std::unique_ptr<Service> MakeEcho(Runtime& runtime) {
  return std::make_unique<EchoService>(runtime);
}

class RealHosts : public testing::Test {
 protected:
  explicit RealHosts(int count = 2) {
    for (int i = 0; i < count; ++i) {
      auto [listener, endpoint] = ListenAnywhere();
      replicas.push_back(endpoint);
      listeners.push_back(std::move(listener));
    }
  }

  // Options of replica `id`. The first time, its socket listens already.
  RealHostOptions Options(PeerId id) {
    const auto index = static_cast<std::size_t>(id);
    RealHostOptions options;
    options.self = id;
    options.replicas = replicas;
    options.data_dir = temp / ("replica" + std::to_string(id));
    if (listeners[index].valid()) {
      options.listen_fd = fcntl(listeners[index].get(), F_DUPFD_CLOEXEC, 0);
      listeners[index].Close();
    }
    options.on_log = [](const std::string&) {};
    return options;
  }

  // Those of a cluster of one: no reconnecting wakes the loop by chance.
  RealHostOptions AloneOptions() {
    RealHostOptions options = Options(0);
    options.replicas.resize(1);
    return options;
  }

  // Runs a replica until it has made an observation. Returns the number of its steps.
  static std::uint64_t RunUntilObservation(RealHostOptions options,
                                           const RealHost::ServiceFactory& make_service) {
    std::atomic<bool> observed{false};
    options.on_observe = [&](const Observation&) { observed = true; };
    RunningHost host(std::move(options), make_service);
    EXPECT_TRUE(Eventually([&] { return observed.load(); }));
    EXPECT_EQ(host.Stop(), "");
    return host->counters().steps.value();
  }

  // Waits until this time is over.
  static void Pass(Duration time) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(Eventually([&] { return std::chrono::steady_clock::now() > start + time; }));
  }

  TempDir temp;
  std::vector<Endpoint> replicas;
  std::vector<Descriptor> listeners;
};

TEST_F(RealHosts, AClientIsServed) {
  RunningHost host(Options(0), MakeEcho);
  Client client(replicas[0]);
  EXPECT_EQ(CallText(client, Echo{"hello"}), "hello");
  EXPECT_EQ(CallText(client, Echo{std::string(3'000'000, 'x')}), std::string(3'000'000, 'x'));
}

TEST_F(RealHosts, TwoReplicasCallEachOther) {
  RunningHost zero(Options(0), MakeEcho);
  RunningHost one(Options(1), MakeEcho);
  Client to_zero(replicas[0]);
  Client to_one(replicas[1]);
  EXPECT_EQ(CallText(to_zero, Relay{1, "there and back"}), "there and back");
  EXPECT_EQ(CallText(to_one, Relay{0, "the other way"}), "the other way");
}

TEST_F(RealHosts, AReplicaMayCallItself) {
  RunningHost host(AloneOptions(), MakeEcho);
  Client client(replicas[0]);
  EXPECT_EQ(CallText(client, Relay{0, "myself"}), "myself");
}

TEST_F(RealHosts, ACallToAPeerThatIsDownTimesOutAndARestartedPeerIsFoundAgain) {
  RunningHost zero(Options(0), MakeEcho);
  auto one = std::make_unique<RunningHost>(Options(1), MakeEcho);
  Client client(replicas[0]);
  ASSERT_EQ(CallText(client, Relay{1, "first"}), "first");
  one.reset();
  ASSERT_TRUE(Eventually([&] { return zero->counters().network.lost.value() >= 1; }));
  one = std::make_unique<RunningHost>(Options(1), MakeEcho);
  EXPECT_EQ(CallText(client, Relay{1, "second"}), "second");
}

TEST_F(RealHosts, AWriteIsAnsweredOnceItIsInTheFile) {
  RunningHost host(Options(0), MakeEcho);
  Client client(replicas[0]);
  EXPECT_EQ(CallText(client, Write{"durable"}), "ok");
  EXPECT_GE(host->counters().disk.syncs.value(), 1u);
  EXPECT_EQ(std::filesystem::file_size(temp / "replica0/log"), 7u);
}

class Stopped final : public EchoService {
 public:
  explicit Stopped(Runtime& runtime) : EchoService(runtime), storage_(runtime.storage()) {}
  void Stop() override {
    [[maybe_unused]] const auto written =
        storage_.Append("stopped", "in order", Storage::Sync::kYes);
  }

 private:
  Storage& storage_;
};

TEST_F(RealHosts, AnOrderlyStopFinishesWhatTheServiceSubmits) {
  RunningHost host(Options(0), [](Runtime& runtime) { return std::make_unique<Stopped>(runtime); });
  Client client(replicas[0]);
  ASSERT_EQ(CallText(client, Echo{"hello"}), "hello");
  EXPECT_EQ(host.Stop(), "");
  EXPECT_EQ(std::filesystem::file_size(temp / "replica0/stopped"), 8u);
}

TEST_F(RealHosts, RequestsThatArriveTogetherAreAnsweredInFewWrites) {
  RunningHost host(AloneOptions(), MakeEcho);
  Client client(replicas[0]);
  constexpr int kRequests = 1000;  // more than one turn takes: the rest must not wait for an event
  std::string burst;
  for (CallId call = 1; call <= kRequests; ++call) {
    const auto frame = EncodeFrame({FrameKind::kRequest, Echo::kMethod, call, {}}, Echo{"x"});
    const auto length = EncodeLength(frame.size());
    burst.append(length.begin(), length.end()).append(frame);
  }
  const auto before = host->counters().network.writes.value();
  client.SendRaw(burst);
  for (int i = 0; i < kRequests; ++i) ASSERT_EQ(ReceiveText(client), "x");
  EXPECT_LE(host->counters().network.writes.value() - before, 20u);
}

TEST_F(RealHosts, StopUnderLoadEndsInOrder) {
  auto host = std::make_unique<RunningHost>(Options(0), MakeEcho);
  std::atomic<int> answered{0};
  std::atomic<int> acknowledged{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&, i] {
      try {
        Client client(replicas[0]);
        SendCall(client, Hang{}, 1'000'000);
        for (CallId call = 1;; ++call) {
          if (i == 0) {
            SendCall(client, Write{"x"}, call);
            if (ReceiveText(client) == "ok") ++acknowledged;
          } else {
            SendCall(client, Echo{"y"}, call);
            ReceiveText(client);
          }
          ++answered;
        }
      } catch (const std::system_error&) {
        // The replica has stopped, as this test intends.
      }
    });
  }
  ASSERT_TRUE(Eventually([&] { return answered > 300 && acknowledged > 10; }));
  EXPECT_EQ(host->Stop(), "");
  for (auto& client : clients) client.join();
  host.reset();
  EXPECT_GE(std::filesystem::file_size(temp / "replica0/log"),
            static_cast<std::uintmax_t>(acknowledged));
}

TEST_F(RealHosts, AHostThatNeverRanStopsToo) { RealHost host(Options(0), MakeEcho); }

TEST_F(RealHosts, AnEscapedExceptionEndsRunWithIt) {
  RunningHost host(Options(0), MakeEcho);
  Client client(replicas[0]);
  SendCall(client, Explode{}, 1);
  EXPECT_EQ(host.Join(), "as told");
  EXPECT_THROW(client.Receive(kPatience), std::system_error) << "the connection is still open";
}

TEST_F(RealHosts, DumpsItsCoroutinesOnDemand) {
  std::mutex mutex;
  std::string dump;
  std::atomic<bool> hanging{false};
  auto options = Options(0);
  options.on_observe = [&](const Observation& observation) { hanging = observation.kind == 2; };
  options.on_dump = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    dump = text;
  };
  RunningHost host(std::move(options), MakeEcho);
  Client client(replicas[0]);
  SendCall(client, Hang{}, 1);
  ASSERT_TRUE(Eventually([&] { return hanging.load(); }));
  host->DumpCoroutines();
  ASSERT_TRUE(Eventually([&] {
    const std::lock_guard lock(mutex);
    return dump.find("'Hang' waits on") != std::string::npos;
  })) << dump;
  EXPECT_EQ(host->counters().observations.value(), 2u);
}

constexpr Duration kBurnt = 5ms;

// Uses kBurnt of processor time in one step.
class Burner : public Service {
 public:
  explicit Burner(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.Spawn("burn", [this] {
      const Duration start = ThreadTime();
      while (ThreadTime() - start < kBurnt) {
      }
      runtime_.Observe({1, {}});
    });
  }

 private:
  static Duration ThreadTime() {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  Runtime& runtime_;
};

TEST_F(RealHosts, AProbeHearsOfTheStartOfTheUsageOfStepsAndOfTheTimeBetween) {
  struct Listener : RuntimeProbe {
    void OnStart(const Runtime&) override { ++starts; }
    void OnStepEnd(const Runtime&, const StepUsage& usage) override { usages.push_back(usage); }
    void OnIdle(const Runtime&) override { steps_before_idle.push_back(usages.size()); }
    int starts = 0;
    std::vector<std::size_t> steps_before_idle;
    std::vector<StepUsage> usages;
  };
  Listener listener;  // used by the host's thread until Stop
  auto options = Options(0);
  options.probes = {&listener};
  const std::uint64_t steps = RunUntilObservation(
      std::move(options), [](Runtime& runtime) { return std::make_unique<Burner>(runtime); });
  EXPECT_EQ(listener.starts, 1);
  ASSERT_FALSE(listener.usages.empty());
  EXPECT_EQ(listener.usages.size(), steps);
  EXPECT_GE(listener.usages[0].cost, kBurnt);
  EXPECT_GE(listener.usages[0].took, kBurnt);
  EXPECT_GT(listener.usages[0].began, Time{0});
  ASSERT_FALSE(listener.steps_before_idle.empty()) << "the host waits for the signal to stop";
  EXPECT_GT(listener.steps_before_idle[0], 0U) << "the first step waits for nothing";
}

// Records the times and the random numbers that a replica sees.
class Watcher : public Service {
 public:
  Watcher(Runtime& runtime, std::vector<std::int64_t>& draws, std::vector<Duration>& late)
      : runtime_(runtime), draws_(draws), late_(late) {}

  void Start() override {
    runtime_.Spawn("watcher", [this] {
      for (int i = 0; i < 5; ++i) draws_.push_back(runtime_.RandomBetween(0, 1'000'000'000));
      for (const Duration nap : {Duration(1ms), Duration(3ms), Duration(200us)}) {
        const Time before = runtime_.Now();
        while (std::chrono::steady_clock::now().time_since_epoch() == before) {
        }
        EXPECT_EQ(runtime_.Now(), before) << "time moved within a step";
        runtime_.Sleep(nap);
        late_.push_back(runtime_.Now() - before - nap);
      }
      runtime_.Observe({7, {}});
    });
  }

 private:
  Runtime& runtime_;
  std::vector<std::int64_t>& draws_;
  std::vector<Duration>& late_;
};

TEST_F(RealHosts, TimersFireAndASeedFixesTheDraws) {
  std::vector<std::vector<std::int64_t>> draws(3);
  for (std::size_t run = 0; run < 3; ++run) {
    std::vector<Duration> late;
    auto options = Options(0);
    if (run < 2) options.seed = 42;
    RunUntilObservation(std::move(options), [&](Runtime& runtime) {
      return std::make_unique<Watcher>(runtime, draws[run], late);
    });
    ASSERT_EQ(late.size(), 3u);
    for (const Duration duration : late) EXPECT_GE(duration, 0ns) << "a timer fired early";
  }
  EXPECT_EQ(draws[0], draws[1]);
  EXPECT_NE(draws[0], draws[2]) << "hosts without a seed must draw different numbers";
}

TEST_F(RealHosts, AnIdleReplicaDoesNotSpin) {
  RunningHost host(AloneOptions(), MakeEcho);
  Client client(replicas[0]);
  CallText(client, Echo{"settle"});
  const auto turns = host->counters().turns.value();
  Pass(100ms);
  EXPECT_LE(host->counters().turns.value() - turns, 2u);
  CallText(client, Echo{"still there"});
}

// Records the bytes held for a peer that is down, and the thread on which its stack ends.
class Holder : public Service {
 public:
  struct Seen {
    std::vector<std::size_t> held;
    std::vector<std::string> ends;
    std::thread::id stack_ended_on;
  };

  Holder(Runtime& runtime, Seen& seen) : runtime_(runtime), seen_(seen) {}
  ~Holder() override { seen_.ends.push_back("service"); }

  void Start() override {
    runtime_.Spawn("holder", [this] {
      const OnEnd on_end{seen_};
      const auto look = [this] { seen_.held.push_back(runtime_.HeldBytes(1)); };
      look();
      const auto call = runtime_.rpc().Call(1, Echo{std::string(1000, 'x')});
      look();
      runtime_.rpc().Release(*call);
      look();
      runtime_.Sleep(1ms);
      look();
      runtime_.Observe({1, {}});
      runtime_.Sleep(1h);
    });
  }

 private:
  struct OnEnd {
    Seen& seen;
    ~OnEnd() {
      seen.ends.push_back("stack");
      seen.stack_ended_on = std::this_thread::get_id();
    }
  };

  Runtime& runtime_;
  Seen& seen_;
};

TEST_F(RealHosts, HeldBytesAreThoseOfTheStepsStartAndWhatItSent) {
  Holder::Seen seen;
  RunUntilObservation(Options(0),
                      [&](Runtime& runtime) { return std::make_unique<Holder>(runtime, seen); });
  ASSERT_EQ(seen.held.size(), 4u);
  EXPECT_EQ(seen.held[0], 0u);
  EXPECT_GT(seen.held[1], 1000u);
  EXPECT_EQ(seen.held[2], seen.held[1]) << "a release must take effect in the next step";
  EXPECT_EQ(seen.held[3], 0u);
  EXPECT_EQ(seen.ends, (std::vector<std::string>{"stack", "service"}));
  EXPECT_NE(seen.stack_ended_on, std::this_thread::get_id())
      << "a stack must end on its own thread";
}

// Regression: the greeting timeout was counted from the previous turn, which may be long ago.
TEST_F(RealHosts, AReplicaThatWasIdleForLongStillAccepts) {
  auto options = AloneOptions();
  options.greeting_timeout = 300ms;
  RunningHost host(std::move(options), MakeEcho);
  {
    const Client first(replicas[0]);
  }
  Pass(500ms);
  Client client(replicas[0]);
  EXPECT_EQ(CallText(client, Echo{"awake"}), "awake");
}

std::string ErrorOf(const RealHostOptions& options) {
  try {
    RealHost host(options, MakeEcho);
    return "no error";
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST_F(RealHosts, EachBadOptionIsOneClearLine) {
  struct Case {
    std::string error;
    std::function<void(RealHostOptions&)> change;
  };
  const std::vector<Case> cases = {
      {"the list of replicas is empty", [](auto& options) { options.replicas.clear(); }},
      {"replica id 2 is not in 0 .. 1", [](auto& options) { options.self = 2; }},
      {"replica id -1 is not in 0 .. 1", [](auto& options) { options.self = -1; }},
      {"'127.0.0.1:0' lacks a host or a port", [](auto& options) { options.replicas[1].port = 0; }},
      {"no data directory is given", [](auto& options) { options.data_dir.clear(); }},
      {"held_bytes_max is 0: nothing could be sent",
       [](auto& options) { options.held_bytes_max = 0; }},
      {"cannot listen on " + ToString(replicas[0]) + ": Address already in use",
       [&](auto& options) { options.replicas[0] = replicas[0]; }},
      {"cannot create data directory '/dev/null/data': Not a directory",
       [&](auto& options) {
         options.listen_fd = fcntl(listeners[0].get(), F_DUPFD_CLOEXEC, 0);
         options.data_dir = "/dev/null/data";
       }},
  };
  for (const Case& each : cases) {
    RealHostOptions options;
    options.replicas = {{"127.0.0.1", 1}, {"127.0.0.1", 2}};
    options.data_dir = temp / "bad";
    each.change(options);
    EXPECT_EQ(ErrorOf(options), each.error);
  }
}

TEST(Endpoints, AreParsedOrRefusedWithTheReason) {
  const auto endpoints = ParseEndpoints("localhost:1,127.0.0.1:65535");
  ASSERT_EQ(endpoints.size(), 2u);
  EXPECT_EQ(ToString(endpoints[1]), "127.0.0.1:65535");
  for (const char* bad :
       {"", "host", "host:", "host:0", "host:65536", "host:x", ":1", "a:1,", "a:1b"}) {
    EXPECT_THROW(ParseEndpoints(bad), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace depfast::real
