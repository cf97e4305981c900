// Program: the main function of a tool. It parses flags, runs, and prints one line of JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

namespace depfast {

using Json = nlohmann::ordered_json;

// For `check` of an option that is a number of things.
inline const CLI::Range kPositive(1, 1'000'000'000);

// Adds an option in whole milliseconds.
inline void AddMilliseconds(CLI::App& app, const char* name, std::chrono::nanoseconds& into,
                            const char* text) {
  app.add_option_function<int>(
         name, [&into](int ms) { into = std::chrono::milliseconds(ms); }, text)
      ->check(kPositive);
}

// Prints the result of `run`. Returns the exit status: 0, 1 if `run` throws, 2 for bad usage. An
// error is one line. Requires: the options of `app` are those of the program.
inline int RunProgram(CLI::App& app, int argc, char** argv, const std::function<Json()>& run) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& call) {
    return app.exit(call);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 2;
  }
  try {
    std::cout << run().dump() << std::endl;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 1;
  }
  return 0;
}

}  // namespace depfast
