#include "counted_finalize.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "depfast/broadcast.h"
#include "depfast/event.h"
#include "quorum_event.h"

#ifdef __GLIBCXX__
// The name of Finalize for the linker, as in CMakeLists.txt. It is this library's.
#define FINALIZE                                                              \
  "_ZN7depfast8FinalizeESt10shared_ptrINS_11QuorumEventEENS_14BroadcastCalls" \
  "ENSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE"
#endif

namespace depfast::lab4 {
namespace {

// A process may run several replicas.
std::map<const Runtime*, FinalizeCount>& Counts() {
  static std::map<const Runtime*, FinalizeCount> counts;
  return counts;
}

}  // namespace

void StartCounting(const Runtime& runtime) { Counts()[&runtime] = {}; }

#ifdef __GLIBCXX__

FinalizeCount CountOf(const Runtime& runtime) { return Counts()[&runtime]; }

using Quorum = std::shared_ptr<QuorumEvent>;

std::shared_ptr<Event> Students(Quorum quorum, BroadcastCalls calls,
                                Duration grace) __asm__("__real_" FINALIZE);
std::shared_ptr<Event> Counted(Quorum quorum, BroadcastCalls calls,
                               Duration grace) __asm__("__wrap_" FINALIZE);

std::shared_ptr<Event> Counted(Quorum quorum, BroadcastCalls calls, Duration grace) {
  Counts()[&Runtime::Current()].calls += calls.size();
  return Students(std::move(quorum), std::move(calls), grace);
}

#else  // as on macOS, where the linker leads no calls elsewhere: nobody's are too few there

FinalizeCount CountOf(const Runtime& runtime) {
  constexpr std::uint64_t kEnough = 1'000'000;
  Counts()[&runtime].calls += kEnough;
  return Counts()[&runtime];
}

#endif

}  // namespace depfast::lab4
