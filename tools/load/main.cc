// put_load: measures one load on a cluster that runs, and prints one line of JSON.
#include <getopt.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "number_flag.h"
#include "put_load.h"

namespace depfast::load {
namespace {

constexpr const char* kUsage =
    "usage: put_load --target raft|kv|etcd --replicas HOST:PORT,... [--clients N | --rate "
    "PUTS_PER_SECOND]"
    " [--connections N] [--value-bytes N] [--warm-up-ms N] [--window-ms N]";

struct Flags {
  std::string target;
  TargetOptions connect;
  LoadOptions load;
};

using Connector = std::unique_ptr<PutTarget> (*)(const TargetOptions&);

// Null if there is no such target.
Connector ConnectorTo(std::string_view target) {
  if (target == "raft") return ConnectToRaft;
  if (target == "kv") return ConnectToKv;
  if (target == "etcd") return ConnectToEtcd;
  return nullptr;
}

Flags ParseFlags(int argc, char** argv) {
  enum { kTarget, kReplicas, kClients, kRate, kConnections, kValueBytes, kWarmUp, kWindow };
  static constexpr option kOptions[] = {{"target", required_argument, nullptr, kTarget},
                                        {"replicas", required_argument, nullptr, kReplicas},
                                        {"clients", required_argument, nullptr, kClients},
                                        {"rate", required_argument, nullptr, kRate},
                                        {"connections", required_argument, nullptr, kConnections},
                                        {"value-bytes", required_argument, nullptr, kValueBytes},
                                        {"warm-up-ms", required_argument, nullptr, kWarmUp},
                                        {"window-ms", required_argument, nullptr, kWindow},
                                        {nullptr, 0, nullptr, 0}};
  Flags flags;
  opterr = 0;
  int which = 0;
  for (int choice = 0; (choice = getopt_long(argc, argv, "", kOptions, &which)) != -1;) {
    if (choice == '?') throw std::invalid_argument(kUsage);
    const auto number = [&] { return NumberOfFlag(kOptions[choice].name, optarg); };
    if (choice == kTarget) flags.target = optarg;
    if (choice == kReplicas) flags.connect.replicas = real::ParseEndpoints(optarg);
    if (choice == kClients) flags.load.clients = static_cast<int>(number());
    if (choice == kRate) flags.load.puts_per_second = number();
    if (choice == kConnections) flags.connect.connections = static_cast<int>(number());
    if (choice == kValueBytes) flags.load.value_bytes = static_cast<std::size_t>(number());
    if (choice == kWarmUp) flags.load.warm_up = std::chrono::milliseconds(number());
    if (choice == kWindow) flags.load.window = std::chrono::milliseconds(number());
  }
  if (optind != argc || !ConnectorTo(flags.target) || flags.connect.replicas.empty()) {
    throw std::invalid_argument(kUsage);
  }
  return flags;
}

double Microseconds(Duration duration) { return static_cast<double>(duration.count()) / 1e3; }

// Percentiles come as pairs [permille, us].
void Print(const Flags& flags, const LoadReport& report) {
  const double seconds = static_cast<double>(flags.load.window.count()) / 1e9;
  std::printf(
      "{\"target\":\"%s\",\"clients\":%d,\"rate\":%lld,\"connections\":%d,\"value_bytes\":%zu,"
      "\"seconds\":%.3f,\"committed\":%llu,\"failed\":%llu,\"puts_per_second\":%.1f,"
      "\"client_cpu_share\":%.3f,\"client_turns_per_second\":%.1f,\"mean_us\":%.1f,"
      "\"percentiles_us\":[",
      flags.target.c_str(), flags.load.puts_per_second > 0 ? 0 : flags.load.clients,
      static_cast<long long>(flags.load.puts_per_second), flags.connect.connections,
      flags.load.value_bytes, seconds, static_cast<unsigned long long>(report.committed),
      static_cast<unsigned long long>(report.failed),
      static_cast<double>(report.committed) / seconds,
      static_cast<double>(report.cpu.count()) / static_cast<double>(flags.load.window.count()),
      static_cast<double>(report.turns) / seconds, Microseconds(report.latencies.Mean()));
  const char* comma = "";
  for (const int permille : {10, 100, 250, 500, 750, 900, 950, 990, 995, 999, 1000}) {
    std::printf("%s[%d,%.1f]", comma, permille,
                Microseconds(report.latencies.Percentile(permille)));
    comma = ",";
  }
  std::printf("]}\n");
}

}  // namespace
}  // namespace depfast::load

// Exit status: 0, 1 if the measurement was lost, 2 for bad usage; with one line that says why.
int main(int argc, char** argv) {
  using namespace depfast::load;
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_TIMERSLACK, 1UL);  // ns: or an open loop's arrivals would all be 50 us late
  try {
    const Flags flags = ParseFlags(argc, argv);
    const auto target = ConnectorTo(flags.target)(flags.connect);
    Print(flags, Run(*target, flags.load));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "put_load: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "put_load: %s\n", error.what());
    return 1;
  }
  return 0;
}
