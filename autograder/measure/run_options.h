// The command line of a measured run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace depfast::measure {

struct RunOptions {
  std::string lab;      // whose subject it is
  std::string replica;  // the sealed replica's program
  int replicas = 3;
  std::uint64_t seed = 1;
  std::string profile = "low-jitter";
  std::string fault = "none";
  // The names of the proposers' roles, in the checker's order, and last that of all other replicas.
  std::vector<std::string> roles;
  std::string victim;  // the role that the fault strikes; if empty, the last of `roles`
  std::string load = "latency";
  double capacity = 0;   // operations per second; for all loads but `capacity`
  bool explain = false;  // add the proposers' waits to the result
  bool history = false;  // print the numbered history to stderr
};

// Throws CLI::ParseError for a wrong command line, and for a request for help.
RunOptions ParseRunOptions(int argc, char** argv);

}  // namespace depfast::measure
