// The situations that a test is meant to reach, counted over its worlds. A chaos test whose worlds
// miss a situation tests less than it says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace depfast::testkit {

// A situation in words, and whether a world has had it.
using Situations = std::vector<std::pair<std::string, bool>>;

// Counts the worlds with each situation. The counts become the test's property "situations", as
// JSON, but for dry runs.
class SituationCounts {
 public:
  void Add(const Situations& seen);

  // The number of worlds with this situation; 0 for one that nobody has added.
  std::int64_t of(const std::string& situation) const;

 private:
  std::map<std::string, std::int64_t> worlds_;
};

}  // namespace depfast::testkit
