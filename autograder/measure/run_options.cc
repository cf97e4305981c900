#include "run_options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <system_error>

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

void AddRun(CLI::App& app, RunOptions& options) {
  app.add_option("--replicas", options.replicas)->check(CLI::Range(3, 9));
  app.add_option_function<std::string>(
      "--seed", [&options](const std::string& text) { options.seed = SeedOf(text); });
  app.add_option("--profile", options.profile)->check(CLI::IsMember(ProfileNames()));
  app.add_option("--rate", options.rate, "offered operations per second")->required();
  app.add_option("--clients", options.clients, "in a closed loop, whatever the rate")
      ->check(CLI::Range(0, 1000));
  app.add_option("--shape", options.shape, "when the fault is on")
      ->check(CLI::IsMember(ShapeNames()));
}

void AddFault(CLI::App& app, RunOptions& options) {
  app.add_option("--fault", options.fault)->check(CLI::IsMember(FaultNames()));
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
  if (!has_rate) throw CLI::ValidationError("--rate", "must be above 0, and at most 1,000,000");
  return options;
}

}  // namespace depfast::measure
