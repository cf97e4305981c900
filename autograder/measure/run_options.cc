#include "run_options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "faults.h"
#include "profiles.h"
#include "run_shape.h"
#include "subject.h"

namespace depfast::measure {
namespace {

// CLI11 reads "-1", "010" and numbers of more than 64 bits as something else.
std::uint64_t SeedOf(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, seed);
  if (rest == end && problem == std::errc()) return seed;
  throw CLI::ValidationError("--seed", "'" + text + "' is no decimal number of 64 bits");
}

const std::map<std::string, ClientsAt> kPlaces = {
    {"proposers", ClientsAt::kProposers}, {"one", ClientsAt::kOne}, {"all", ClientsAt::kAll}};

// An option whose text `check` throws std::invalid_argument for, if it is wrong.
void AddChecked(CLI::App& app, const std::string& name, std::string& text,
                std::function<void(const std::string&)> check) {
  app.add_option_function<std::string>(
      name, [name, &text, check = std::move(check)](const std::string& given) {
        try {
          check(given);
        } catch (const std::invalid_argument& error) {
          throw CLI::ValidationError(name, error.what());
        }
        text = given;
      });
}

void AddLoad(CLI::App& app, RunOptions& options) {
  app.add_option("--rate", options.rate, "offered operations per second");
  app.add_option("--clients", options.clients, "in a closed loop, whatever the rate")
      ->check(CLI::Range(0, 10'000));
  app.add_option("--clients-at", options.load.at, "the replicas that clients send commands to")
      ->transform(CLI::CheckedTransformer(kPlaces));
  app.add_option("--value-bytes", options.load.value_bytes)->check(CLI::Range(32, 1 << 20));
  app.add_option("--costs-percent", options.costs_percent, "of a processor")
      ->check(CLI::Range(1, 1000));
}

void AddRun(CLI::App& app, RunOptions& options) {
  app.add_option("--replicas", options.replicas)->check(CLI::Range(3, 9));
  app.add_option_function<std::string>(
      "--seed", [&options](const std::string& text) { options.seed = SeedOf(text); });
  app.add_option("--profile", options.profile)->check(CLI::IsMember(ProfileNames()));
  AddChecked(app, "--shape", options.shape, [](const std::string& shape) { WindowOf(shape, {}); });
}

void AddFault(CLI::App& app, RunOptions& options) {
  AddChecked(app, "--fault", options.fault, [](const std::string& name) { FaultOf(name, {0}); });
  app.add_option("--slow", options.slow,
                 "places that the fault strikes, among the replicas that do not propose")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--victim", options.victim,
                 "the proposer's role that the fault strikes, too; alone without --slow");
}

}  // namespace

RunOptions ParseRunOptions(int argc, const char* const* argv) {
  RunOptions options;
  CLI::App app("One run of a measurement: a replicated log under load, with a fault.");
  app.add_option("--mix", options.mix, "of the load's commands, if there are several");
  app.add_option("--replica", options.replica, "program of a sealed replica");
  app.add_option("--roles", options.roles, "of the proposers in order, then of the others")
      ->required()
      ->delimiter(',');
  AddRun(app, options);
  AddLoad(app, options);
  AddFault(app, options);
  app.add_option("--perturb", options.perturb, "fill memory and move addresses")
      ->check(CLI::Range(0, 255))
      ->take_last();
  app.add_option("--twin", options.twin, "as --perturb, of a second process of each replica")
      ->check(CLI::Range(0, 255));
  app.add_option("--trace", options.trace, "a file for a line per crossing of the Host");
  app.add_option("--record", options.record, "a file for `kit replay`");
  app.add_flag("--explain", options.explain, "add the proposers' waits");
  app.add_flag("--history", options.history, "print the history to stderr");
  app.parse(argc, argv);
  if (!MeasuredSubjects().contains(options.mix)) {
    throw CLI::ValidationError("--mix", "there is no load '" + options.mix + "'");
  }
  const bool has_rate = options.rate > 0 && options.rate <= kRateMax;  // not of "nan"
  if (!has_rate && options.clients == 0) {
    throw CLI::ValidationError("--rate", "must be above 0, and at most 1,000,000");
  }
  return options;
}

}  // namespace depfast::measure
