#include "saucr_invariants.h"

#include <array>
#include <cstddef>

namespace depfast::saucr {
namespace {

struct Words {
  const char* name;
  const char* rules;
  bool is_safety = true;
};

constexpr std::array kWords = std::to_array<Words>({
    {"election safety", "R24, R25"},
    {"leader append-only", "R31"},
    {"log matching", "R27"},
    {"leader completeness", "R25, R29"},
    {"state machine safety", "R3"},
    {"monotonic term and commit", "R24"},
    {"one vote per term", "R24"},
    {"a leader has votes", "R26"},
    {"terms and votes on the disk", "R24"},
    {"committed", "R3, R15, R17"},
    {"marked", "R11, R13"},
    {"markers tell the truth", "R12, R13, R28"},
    {"persisted", "R2, R18"},
    {"silent", "R20"},
    {"LLE", "R21, R25"},
    {"maps and lives go forward", "R16, R17, R22"},
    {"lives are durable before answers", "R17"},
    {"data before rounds", "R29"},
    {"elections", "R9, R26", false},
    {"a map names its round", "R15", false},
    {"modes", "R6, R7, R8", false},
});

const Words& Of(Invariant invariant) { return kWords[static_cast<std::size_t>(invariant)]; }

}  // namespace

bool IsSafety(Invariant invariant) { return Of(invariant).is_safety; }
const char* ToString(Invariant invariant) { return Of(invariant).name; }
std::string HandoutRule(Invariant invariant) {
  return std::string(Of(invariant).rules) + " of lab 6's handout";
}

}  // namespace depfast::saucr
