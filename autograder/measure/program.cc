#include "program.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

namespace depfast::measure {

int RunProgram(int argc, const char* const* argv,
               const std::function<RunResult(const RunOptions&)>& run) {
  try {
    const auto line = ToJson(run(ParseRunOptions(argc, argv)));
    std::puts(line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return CLI::App().exit(help);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

}  // namespace depfast::measure
