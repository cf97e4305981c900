// The main of every lab's test binary: GoogleTest, and the flags of testkit/environment.h.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "testkit/environment.h"
#include "testkit/json.h"

namespace depfast::testkit {
namespace {

constexpr int kUsageError = 2;

std::uint64_t ParseNumber(std::string_view flag, const std::string& text) {
  std::size_t used = 0;
  std::uint64_t value = 0;
  try {
    value = std::stoull(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || text[0] == '-') {
    throw std::invalid_argument(std::string(flag) + " takes a number, not '" + text + "'");
  }
  return value;
}

void ListGraded() {
  std::string out = "[";
  for (const GradedTest& test : GradedTests()) {
    out += out.size() > 1 ? ",\n " : "";
    out += "{\"name\": " + JsonString(test.name) + ", \"part\": " + JsonString(test.part) +
           ", \"points\": " + std::to_string(test.points) +
           ", \"description\": " + JsonString(test.property) +
           ", \"hidden\": " + (test.hidden ? "true" : "false") + "}";
  }
  std::puts((out + "]").c_str());
}

// Takes our flags; GoogleTest has taken its own. Throws std::invalid_argument.
void ParseFlags(int argc, char** argv, bool& list) {
  Environment& environment = TheEnvironment();
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--list-graded") {
      list = true;
    } else if (name == "--seed") {
      environment.seed = ParseNumber(name, value);
    } else if (name == "--replica") {
      environment.replica = value;
    } else if (name == "--perturb") {
      environment.perturb = static_cast<int>(ParseNumber(name, value) % 256);
    } else if (name == "--history") {
      environment.history = value;
    } else if (name == "--trace") {
      environment.trace = value;
    } else if (name == "--record") {
      environment.record = value;
    } else {
      throw std::invalid_argument("unknown flag '" + argument + "'");
    }
  }
}

}  // namespace
}  // namespace depfast::testkit

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  bool list = false;
  try {
    depfast::testkit::ParseFlags(argc, argv, list);
    if (list) {
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
