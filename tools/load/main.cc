// put_load: measures one load on a cluster that runs, and prints one line of JSON.
#include <signal.h>
#include <sys/prctl.h>

#include <map>
#include <memory>
#include <string>

#include "etcd_target.h"
#include "program.h"
#include "protocol.h"
#include "put_load.h"

namespace depfast::load {
namespace {

// The labs' replicas, and a peer.
std::map<std::string, Connect> Connectors() {
  std::map<std::string, Connect> found = Connects();
  found.emplace("etcd", ConnectToEtcd);
  return found;
}

struct Flags {
  std::string target;
  TargetOptions connect;
  LoadOptions load;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("--target", flags.target, "the store")
      ->required()
      ->check(CLI::IsMember(Connectors()));
  app.add_option_function<std::string>(
         "--replicas",
         [&](const std::string& text) { flags.connect.replicas = real::ParseEndpoints(text); },
         "HOST:PORT of all replicas, with commas")
      ->required();
  app.add_option("--clients", flags.load.clients, "of a closed loop")->check(kPositive);
  app.add_option("--rate", flags.load.puts_per_second, "puts a second of an open loop instead")
      ->check(kPositive);
  app.add_option("--connections", flags.connect.connections, "to the leader")->check(kPositive);
  app.add_option("--value-bytes", flags.load.value_bytes, "of each put")->check(kPositive);
  AddMilliseconds(app, "--warm-up-ms", flags.load.warm_up, "before the window");
  AddMilliseconds(app, "--window-ms", flags.load.window, "that is measured");
  AddMilliseconds(app, "--slice-ms", flags.load.slice, "parts in which it is reported, too");
}

double Microseconds(Duration duration) { return static_cast<double>(duration.count()) / 1e3; }

// Percentiles come as pairs [permille, us], slices as their latencies in us.
Json Described(const Flags& flags, const LoadReport& report) {
  const double seconds = static_cast<double>(flags.load.window.count()) / 1e9;
  auto percentiles = Json::array();
  for (const int permille : {10, 100, 250, 500, 750, 900, 950, 990, 995, 999, 1000}) {
    percentiles.push_back({permille, Microseconds(report.latencies.Percentile(permille))});
  }
  auto slices = Json::array();
  for (const auto& slice : report.slices) {
    auto latencies = Json::array();
    for (const Duration latency : slice) latencies.push_back(latency / 1us);
    slices.push_back(std::move(latencies));
  }
  return {{"target", flags.target},
          {"clients", flags.load.puts_per_second > 0 ? 0 : flags.load.clients},
          {"rate", flags.load.puts_per_second},
          {"connections", flags.connect.connections},
          {"value_bytes", flags.load.value_bytes},
          {"seconds", seconds},
          {"committed", report.committed},
          {"failed", report.failed},
          {"leader_changes", report.leader_changes},
          {"puts_per_second", static_cast<double>(report.committed) / seconds},
          {"client_cpu_share", static_cast<double>(report.cpu.count()) / 1e9 / seconds},
          {"window_began_ns", report.window_began.count()},
          {"slices", std::move(slices)},
          {"mean_us", Microseconds(report.latencies.Mean())},
          {"percentiles_us", std::move(percentiles)}};
}

}  // namespace
}  // namespace depfast::load

int main(int argc, char** argv) {
  using namespace depfast::load;
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_TIMERSLACK, 1UL);  // ns: or an open loop's arrivals would all be 50 us late
  Flags flags;
  CLI::App app("Measures one load on a replicated store.", "put_load");
  AddFlags(app, flags);
  return depfast::RunProgram(app, argc, argv, [&] {
    const auto target = Connectors().at(flags.target)(flags.connect);
    return Described(flags, Run(*target, flags.load));
  });
}
