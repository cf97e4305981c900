// ycsb_SYSTEM: lab 3's store on this log under a load of reads and writes, in a closed loop (figure
// 8 of document 003). Five replicas. Prints a line of JSON for each seed.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "kv_load.h"
#include "saucr_checker.h"
#include "systems.h"
#include "testkit/cluster.h"
#include "testkit/load.h"

namespace depfast::saucr {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kReplicas = 5;
constexpr Duration kReady = 20s;
constexpr Duration kBeforeWindow = 1s;  // of the load: SAUCR begins in slow mode
constexpr Duration kWindow = 1s;
constexpr int kClients = 8;

struct Options {
  std::string profile = "ssd";
  int reads_percent = 0;
  std::uint64_t seeds = 1;
};

Json Measure(const Options& options, std::uint64_t seed) {
  testkit::Cluster cluster(
      {.replicas = kReplicas, .seed = seed, .profile = ProfileOf(options.profile)});
  SaucrChecker checker(cluster.simulator(), &cluster.history(), SaucrChecker::Machine::kOther);
  kv::KvLoad load(cluster.simulator(), checker, {.answer_timeout = kReady, .give_up = kReady},
                  options.reads_percent);
  cluster.Start();
  const auto serves = [&] {
    return checker.Leader() != kNobody && checker.Serves(checker.Leader());
  };
  if (!cluster.RunUntil(serves, kReady)) throw std::runtime_error("no replica leads");
  const Time from = cluster.now() + kBeforeWindow;
  const testkit::LoadWindow window = {cluster.now(), from, from + kWindow};
  const testkit::ClosedLoop loop(
      cluster.simulator(),
      [&load](std::function<void(bool)> done) { load.Execute(std::move(done)); }, kClients, window);
  cluster.RunFor(window.to - cluster.now());
  const auto found = loop.ResultAt(cluster.now());
  if (!load.untrue().empty()) throw std::runtime_error(load.untrue());
  return {{"per_second", static_cast<double>(found.completed) / (kWindow / 1s)},
          {"violation", checker.FirstSafetyViolation()}};
}

}  // namespace
}  // namespace depfast::saucr

int main(int argc, char** argv) {
  using namespace depfast;
  saucr::Options options;
  CLI::App app("Lab 3's store under a load of reads and writes, as in figure 8 of document 003.");
  app.add_option("--profile", options.profile)->check(CLI::IsMember({"slow-disk", "hdd", "ssd"}));
  app.add_option("--reads", options.reads_percent, "per cent")->check(CLI::Range(0, 100));
  app.add_option("--seeds", options.seeds, "seeds 1 to this number");
  return saucr::RunProgram(app, argc, argv, [&] {
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
      std::puts(saucr::Measure(options, seed).dump().c_str());
    }
  });
}
