// The command line of a measured run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "subject.h"

namespace depfast::measure {

struct RunOptions {
  std::string mix;      // the key of its subject in MeasuredSubjects
  std::string replica;  // the sealed replica's program; empty if it is in this process
  int replicas = 3;
  std::uint64_t seed = 1;
  std::string profile = "low-jitter";
  // The names of the proposers' roles, in the checker's order, and last that of all other replicas.
  std::vector<std::string> roles;
  std::string fault = "none";    // see faults.h
  std::string shape = "before";  // see run_shape.h
  std::vector<int> slow;         // the places that the fault strikes, see FollowersAt; and ...
  std::string victim;            // ... if it is not empty, the proposer's role that it strikes
  double rate = 0;               // offered operations per second
  int clients = 0;               // in a closed loop; 0: arrivals come at the rate
  ClientLoad load;               // where clients send commands, and their sizes
  int costs_percent = 100;       // of all costs of a processor: below 100, it is faster
  int perturb = 0;               // see sealed::SealedOptions
  int twin = 0;                  // --perturb of each replica's twin; 0: it has none
  std::string trace;             // a file for a line per crossing of the Host; empty: none
  std::string record;            // see testkit::Recorder: of replicas in this process; empty: none
  bool explain = false;          // add the proposers' waits to the result
  bool history = false;          // print the numbered history to stderr
};

// Intervals between arrivals have a microsecond or more.
inline constexpr double kRateMax = 1e6;

// Throws CLI::ParseError for a wrong command line, and for a request for help.
RunOptions ParseRunOptions(int argc, const char* const* argv);

}  // namespace depfast::measure
