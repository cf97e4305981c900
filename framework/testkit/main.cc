// The main of every lab's test binary: GoogleTest, and the flags of testkit/environment.h.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "faults/text.h"
#include "sealed/parent.h"
#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

constexpr int kUsageError = 2;

// CLI11 alone takes -1, and makes the largest number of one that is too large.
std::string ComplaintAboutSeed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? "" : "takes a number, not '" + text + "'";
}

// A test's clusters end their twins when they go.
class TwinsReport final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    const std::string twins = TwinsOfThisTest();
    if (!twins.empty()) testing::Test::RecordProperty("twins", twins);
  }
};

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

// CLI11 takes the numbers in the order of Bound; later ones may be left out.
void AddBound(CLI::App& app, Bound& bound) {
  app.add_option_function<std::vector<int>>(
         "--bound",
         [&bound](const std::vector<int>& numbers) {
           int* const fields[] = {&bound.deviations, &bound.losses, &bound.delays, &bound.crashes,
                                  &bound.cuts};
           for (std::size_t i = 0; i < numbers.size(); ++i) *fields[i] = numbers[i];
         },
         "the most deviations that are explored: in all, lost, late, crashes, cuts")
      ->delimiter(',')
      ->expected(1, 5)
      ->check(CLI::NonNegativeNumber);
}

faults::FaultPlan ReadSchedule(const std::string& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::invalid_argument("--schedule=" + file + " cannot be read");
  return faults::ParsePlan(text.str());
}

void AddFlags(CLI::App& app, Environment& environment, bool& list) {
  app.add_flag("--list-graded", list, "print the graded tests as JSON");
  app.add_option("--seed", environment.seed, "the base of every seed")
      ->check(CLI::Validator(ComplaintAboutSeed, ""));
  app.add_option("--replica", environment.replica, "the program of a sealed replica");
  app.add_option("--perturb", environment.perturb, "fill memory and move addresses")
      ->check(CLI::Range(0, 255));
  app.add_option("--twin", environment.twin, "as --perturb, of a second process of each replica")
      ->check(CLI::Range(0, 255));
  app.add_option("--history", environment.history, "a file for the numbered history");
  app.add_option("--states", environment.states_max, "the most states of a scope")
      ->check(CLI::PositiveNumber);
  app.add_option("--trace", environment.trace, "a file for a line per crossing of the Host");
  app.add_option("--record", environment.record, "the file for the recording of the replay page");
  app.add_option("--shrink", environment.shrink, "runs to look for the shortest failing schedule")
      ->check(CLI::Range(0, 10'000));
  app.add_flag("--progress", environment.progress, "print the progress of an exploration");
  AddBound(app, environment.bound);
  app.add_option("--under-way", environment.under_way, "a file for the schedule that runs");
  app.add_option_function<std::string>(
      "--schedule",
      [&environment](const std::string& file) { environment.schedule = ReadSchedule(file); },
      "perform this schedule, instead of an exploration");
}

// GoogleTest's words are in the file of results. So standard output has the words of the replicas
// alone. A crash loses none of their lines.
void LeaveStandardOutputToReplicas() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

}  // namespace
}  // namespace depfast::testkit

int main(int argc, char** argv) {
  using namespace depfast::testkit;
  testing::InitGoogleTest(&argc, argv);
  depfast::sealed::EndWithParent();
  bool list = false;
  CLI::App app("Tests of a lab. GoogleTest's own flags: --gtest_help");
  AddFlags(app, TheEnvironment(), list);
  try {
    app.parse(argc, argv);
    if (!list && !testing::GTEST_FLAG(list_tests)) CheckEnvironment(TheEnvironment());
  } catch (const CLI::CallForHelp& call) {
    return app.exit(call);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return kUsageError;
  }
  if (list) {
    ListGraded();
    return 0;
  }
  if (!testing::GTEST_FLAG(output).empty()) LeaveStandardOutputToReplicas();
  testing::UnitTest::GetInstance()->listeners().Append(new TwinsReport);
  return RUN_ALL_TESTS();
}
