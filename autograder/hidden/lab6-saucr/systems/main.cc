// sequences_SYSTEM: a share of the crash sequences. Prints a line of JSON for each:
//   {"number": 17, "states": "12345, 23, 12345", "verdict": "correct", "ideal": "correct",
//    "vr": "unavailable", "loss": "none", "why": "", "violation": "",
//    "fast": 12, "slow": 9, "recoveries": 3}
// `ideal`: of the system's ideal model. `vr`, `loss`: IdealVr and IdealMemory. `violation`: of a
// safety rule of SAUCR. `fast`, `slow`: committed entries by mode.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sequence_runner.h"
#include "systems.h"

namespace depfast::saucr {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLosses[] = {"none", "possible", "certain"};

struct Share {
  SequenceOptions options;
  std::size_t first = 0;
  std::size_t count = 1;
  std::size_t every = 1;
};

Json Run(const Sequence& sequence, std::size_t number, SequenceOptions options) {
  options.world = number + 1;
  const SequenceResult result = RunSequence(sequence, options);
  return {{"number", number},
          {"states", ToString(sequence)},
          {"verdict", ToString(result.verdict)},
          {"ideal", ToString(result.ideal)},
          {"vr", ToString(IdealVr(sequence, options.replicas))},
          {"loss", kLosses[static_cast<int>(IdealMemory(sequence, options.replicas))]},
          {"why", result.why},
          {"violation", result.safety_violation},
          {"fast", result.coverage.fast},
          {"slow", result.coverage.slow},
          {"recoveries", result.coverage.recoveries}};
}

void Run(const Share& share) {
  const std::vector<Sequence> all = TheSequences(share.options.replicas);
  std::size_t number = share.first;
  for (std::size_t i = 0; i < share.count && number < all.size(); ++i, number += share.every) {
    std::puts(Run(all[number], number, share.options).dump().c_str());
  }
}

}  // namespace
}  // namespace depfast::saucr

int main(int argc, char** argv) {
  using namespace depfast;
  using saucr::Crashes;
  using saucr::System;
  const std::map<std::string, System> systems = {{"saucr", System::kSaucr},
                                                 {"disk-durable", System::kDiskDurable},
                                                 {"memory-durable", System::kMemoryDurable}};
  const std::map<std::string, Crashes> crashes = {{"gaps", Crashes::kWithGaps},
                                                  {"at-once", Crashes::kAtOnce}};
  saucr::Share share;
  CLI::App app("A share of the crash sequences of document 003, section 5.1.");
  app.add_option("--system", share.options.system, "of which this is the program")
      ->required()
      ->transform(CLI::CheckedTransformer(systems));
  app.add_option("--replicas", share.options.replicas)->required()->check(CLI::IsMember({5, 7}));
  app.add_option("--crashes", share.options.crashes)
      ->required()
      ->transform(CLI::CheckedTransformer(crashes));
  app.add_option("--first", share.first, "0 is the first");
  app.add_option("--count", share.count);
  app.add_option("--every", share.every, "the distance of two")->check(CLI::PositiveNumber);
  return saucr::RunProgram(app, argc, argv, [&] { saucr::Run(share); });
}
