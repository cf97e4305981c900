#include "run_options.h"

#include <CLI/CLI.hpp>

#include "faults.h"
#include "profiles.h"
#include "subjects.h"

namespace depfast::measure {

RunOptions ParseRunOptions(int argc, char** argv) {
  RunOptions options;
  CLI::App app("One run of a measurement: a replicated log under load, with a fault.");
  app.add_option("--lab", options.lab, "whose log")
      ->required()
      ->check(CLI::IsMember(SubjectNames()));
  app.add_option("--replica", options.replica, "program of a sealed replica")->required();
  app.add_option("--replicas", options.replicas)->check(CLI::Range(3, 9));
  app.add_option("--seed", options.seed)->check(CLI::PositiveNumber);
  app.add_option("--profile", options.profile)->check(CLI::IsMember(ProfileNames()));
  app.add_option("--fault", options.fault)->check(CLI::IsMember(FaultNames()));
  app.add_option("--roles", options.roles, "of the proposers in order, then of the others")
      ->required()
      ->delimiter(',');
  app.add_option("--victim", options.victim, "the role that the fault strikes");
  app.add_option("--load", options.load)
      ->check(CLI::IsMember({"capacity", "latency", "saturated"}));
  app.add_option("--capacity", options.capacity, "operations per second")
      ->check(CLI::PositiveNumber);
  app.add_flag("--explain", options.explain, "add the proposers' waits");
  app.add_flag("--history", options.history, "print the history to stderr");
  app.parse(argc, argv);
  if (options.load != "capacity" && options.capacity <= 0) throw CLI::RequiredError("--capacity");
  return options;
}

}  // namespace depfast::measure
