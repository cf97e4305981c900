// <lab>_measure: one run of a measurement, with sealed replicas.
#include "measurement.h"
#include "program.h"
#include "sealed/parent.h"
#include "sealed/sealed_backend.h"
#include "subject.h"

namespace {

using namespace depfast;

// Twins have been compared when the measurement is gone.
measure::RunResult Run(const measure::RunOptions& options) {
  sealed::SealedOptions replicas;
  replicas.program = options.replica;
  replicas.perturb = options.perturb;
  replicas.twin_perturb = options.twin;
  measure::RunResult result = measure::Measurement(options, sealed::SealedReplicas(replicas),
                                                   MeasuredSubjects().at(options.mix))
                                  .Run();
  if (options.twin != 0) result.twins = sealed::TwinsInWords(*replicas.findings);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  sealed::EndWithParent();
  return measure::RunProgram(argc, argv, Run);
}
