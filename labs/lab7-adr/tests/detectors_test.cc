// `kit test lab7 --slow` prints what this test tells: detectors beside each other, in two worlds.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "asked_detector.h"
#include "testkit/environment.h"
#include "testkit/told.h"

namespace depfast::adr {
namespace {

struct World {
  const char* name;
  Stretch usual;
};
const World kWorlds[] = {
    {"near, 1 ms usually", {.lasting = 15s, .per_second = 1000, .value = 1ms}},
    {"far, 40 ms usually", {.lasting = 110s, .per_second = 100, .value = 40ms}}};

// A change at the end of the usual stretch. `rate` and `value` are multiples of the usual ones.
struct Change {
  const char* name;
  bool is_fault;
  double rate;
  int value;
  int work;
};
constexpr Change kChanges[] = {{"fault, fewer updates", true, 0.2, 5, 1},
                               {"fault, as many updates", true, 1, 5, 1},
                               {"no fault, 64 clients in place of 8", false, 0.4, 3, 12}};

// The text of document 004 is the detector without R10 to R12: it counts operations, and a value is
// slow at a lower rate alone.
StreamWriter StreamOf(const World& world, const Change& change, bool is_text) {
  StreamWriter writer = is_text ? SaturatedWriter(760) : StreamWriter(testkit::SeedOf(760));
  writer.Add(world.usual);
  writer.Add({.lasting = 4s,
              .per_second = static_cast<int>(world.usual.per_second * change.rate),
              .value = world.usual.value * change.value,
              .work = is_text ? 1 : change.work});
  return writer;
}

GRADED_TEST(Detectors, BesideEachOther, "7f", 0,
            "In two worlds your detector finds faults and takes no load for one. Beside it stand "
            "the document's text, and pairs of static thresholds.") {
  std::ostringstream table;
  for (const World& world : kWorlds) {
    for (const Change& change : kChanges) {
      AskedDetector detector;
      const StreamWriter yours = StreamOf(world, change, false);
      const auto seen = detector.WatchAll({yours, StreamOf(world, change, true)});
      const StretchReport& found = seen[0].back();
      table << (table.tellp() > 0 ? "\n" : "") << world.name << "; " << change.name << ": yours "
            << FirstFatalOf(found) << ", the text " << FirstFatalOf(seen[1].back()) << ","
            << WithStaticPairs(yours, 1);
      const bool is_right =
          change.is_fault ? bool(FindsTheFault(yours, 1, seen[0])) : found.fatals == 0;
      EXPECT_TRUE(is_right) << world.name << ": " << change.name << " is fatal "
                            << FirstFatalOf(found) << " (R6, R10, R11)";
    }
  }
  testkit::TellStudent(table.str());
}

}  // namespace
}  // namespace depfast::adr
