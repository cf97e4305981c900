// <lab>_measure: one run of a measurement. Prints one line of JSON, which failslow.measurement
// judges. Exit status 2, with a line that says why, if there is no run.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>

#include "measurement.h"
#include "sealed/freed_memory.h"
#include "sealed/parent.h"
#include "sealed/sealed_backend.h"
#include "subject.h"

namespace {

using namespace depfast;

// Twins have been compared when the measurement is gone.
measure::RunResult RunWith(const measure::RunOptions& options,
                           const sealed::SealedOptions& replicas) {
  measure::RunResult result = measure::Measurement(options, sealed::SealedReplicas(replicas),
                                                   MeasuredSubjects().at(options.mix))
                                  .Run();
  if (options.twin != 0) result.twins = sealed::TwinsInWords(*replicas.findings);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  sealed::KeepFreedMemory();
  sealed::EndWithParent();
  try {
    const measure::RunOptions options = measure::ParseRunOptions(argc, argv);
    sealed::SealedOptions replicas;
    replicas.program = options.replica;
    replicas.perturb = options.perturb;
    replicas.twin_perturb = options.twin;
    const auto line = measure::ToJson(RunWith(options, replicas));
    std::puts(line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return CLI::App().exit(help);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
