// slow_follower: one run of a measurement. Prints one line of JSON, which failslow.measurement
// judges. Exit status 2, with a line that says why, if there is no run.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "measurement.h"
#include "sealed/sealed_backend.h"
#include "subjects.h"

int main(int argc, char** argv) {
  using namespace depfast;
  try {
    const measure::RunOptions options = measure::ParseRunOptions(argc, argv);
    sealed::SealedOptions replicas;
    replicas.program = options.replica;
    replicas.perturb = options.perturb;
    measure::Measurement measurement(options, sealed::SealedReplicas(replicas),
                                     measure::SubjectOf(options.lab, options.mix));
    const auto line = measure::ToJson(measurement.Run());
    std::puts(line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return CLI::App().exit(help);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slow_follower: %s\n", error.what());
    return 2;
  }
}
