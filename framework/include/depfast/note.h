// Note: a replica's own words, for its author.
//
//   Note("term %llu begins: %d entries, %d of them committed", term, entries, committed);
//
// In a test the words are a line of the run's history, at their virtual time: the end of the
// history is printed under a failure, and `kit replay` shows all of it. In a cluster of real
// processes they are a line of the replica's log.
//
// A note crosses no Host, so a run is the same with and without notes. A graded replica runs in a
// process of its own, and its notes go nowhere.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace depfast {

class Runtime;

inline constexpr std::size_t kNoteBytesMax = 500;

// Formats as std::printf does, and cuts the words off after kNoteBytesMax bytes. Line ends become
// blanks. Requires: called in a step of a replica.
void Note(const char* format, ...) __attribute__((format(printf, 1, 2)));

// The receiver of a runtime's notes. `runtime` tells the replica and the time.
using NoteSink = std::function<void(const Runtime& runtime, std::string_view words)>;

}  // namespace depfast
