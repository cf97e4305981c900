// diagnose_NAME: one run of a variant. Prints one line of JSON (diagnosis_run.h). Exit status 2,
// with a line that says why, if there is no run.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "diagnosis_run.h"

int main(int argc, char** argv) {
  using namespace depfast;
  diagnosis::RunOptions options;
  std::int64_t seconds = 0;
  CLI::App app("One run of a variant of lab 4's Raft, under runtime verification.");
  app.add_option("--seed", options.seed)->required();
  app.add_option("--leader", options.leader)
      ->required()
      ->check(CLI::Range(0, diagnosis::kReplicas - 1));
  app.add_option("--slow", options.slow, "a follower")
      ->check(CLI::Range(0, diagnosis::kReplicas - 1));
  app.add_option("--seconds", seconds, "of virtual time")->required()->check(CLI::Range(5, 600));
  app.add_option("--record", options.record, "a file for the recording of the replay page");
  try {
    app.parse(argc, argv);
    options.length = std::chrono::seconds(seconds);
    std::puts(diagnosis::Run(options).dump().c_str());
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
