// The main of every lab's test binary: GoogleTest, and the flags of testkit/environment.h.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>

#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

constexpr int kUsageError = 2;

void ListGraded() {
  auto tests = nlohmann::ordered_json::array();
  for (const GradedTest& test : GradedTests()) {
    tests.push_back({{"name", test.name},
                     {"part", test.part},
                     {"points", test.points},
                     {"description", test.property},
                     {"hidden", test.hidden}});
  }
  std::cout << tests.dump(1) << std::endl;
}

// Takes our flags; GoogleTest has taken its own. Returns whether to list the tests. Throws
// CLI::ParseError.
bool ParseFlags(int argc, char** argv) {
  Environment& environment = TheEnvironment();
  bool list = false;
  CLI::App app("Tests of a lab; --gtest_help lists GoogleTest's own flags.");
  app.add_flag("--list-graded", list, "print the graded tests as JSON");
  app.add_option("--seed", environment.seed, "the base of every seed");
  app.add_option("--replica", environment.replica, "the program of a sealed replica");
  app.add_option("--perturb", environment.perturb, "fill memory and move addresses")
      ->check(CLI::Range(0, 255));
  app.add_option("--history", environment.history, "a file for the numbered history");
  app.add_option("--trace", environment.trace, "a file for a line per crossing of the Host");
  app.add_option("--record", environment.record, "a file for what the replay page draws");
  app.parse(argc, argv);
  return list;
}

}  // namespace
}  // namespace depfast::testkit

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    if (depfast::testkit::ParseFlags(argc, argv)) {
      depfast::testkit::ListGraded();
      return 0;
    }
    if (!testing::GTEST_FLAG(list_tests)) {
      depfast::testkit::CheckEnvironment(depfast::testkit::TheEnvironment());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return depfast::testkit::kUsageError;
  }
  return RUN_ALL_TESTS();
}
