// The common part of the programs of `kit reproduce saucr`: their profiles, and their main
// function.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "depfast/time.h"
#include "sim/profile.h"
#include "testkit/environment.h"

namespace depfast::saucr {

// The conditions of document 003, Table 1: one client of a log in memory waits 328 us with the
// first, and 461 us with the second. Syncs are as long as fsync adds there.
inline sim::Profile Table1(const char* name, Duration latency, Duration sync) {
  sim::Profile profile = sim::Profile::Lab();
  profile.name = name;
  profile.net.latency = latency;
  profile.net.latency_jitter = {100, 0, 1};
  profile.disk.sync = sync;
  profile.disk.sync_jitter = {100, 0, 1};
  return profile;
}

// "hdd", "ssd", and all else is "slow-disk".
inline sim::Profile ProfileOf(const std::string& name) {
  if (name == "hdd") return Table1("hdd", 49us, 16'300us);
  if (name == "ssd") return Table1("ssd", 82us, 560us);
  return sim::Profile::SlowDisk();
}

// Runs with the command line of `app`. Returns the exit status: 2, with a line that says why, if
// there is no run.
inline int RunProgram(CLI::App& app, int argc, char** argv, const std::function<void()>& run) {
  try {
    app.parse(argc, argv);
    testkit::TheEnvironment().dry_run = true;
    testkit::CheckEnvironment(testkit::TheEnvironment());
    run();
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

}  // namespace depfast::saucr
