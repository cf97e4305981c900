// Warnings: the verdicts of runtime verification on a replica's window (document 000, section
// 4.3.1). A pure function of the window's facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/peer.h"
#include "depfast/time.h"
#include "depfast/verify/window_facts.h"

namespace depfast {

// The thresholds. Each says where it comes from; `kit check` runs healthy clusters against them.
namespace thresholds {

// Calls without a dependency id to one peer in a window. The background tasks that the source
// plants come every 5 ms (document 000, section 5.2.3), 1000 in a window: this is half of that.
// Catch-up, one request at a time, issued 25 in healthy runs, and 105 to a slow follower.
inline constexpr std::uint64_t kBackgroundCalls = 500;
// Sends of one entry to one peer in a window (RepeatedEntries). One may be lost to a follower's
// restart; a second repetition finds the first under way.
inline constexpr std::uint64_t kSendsOfAnEntry = 2;
// Fewer quorums in a window are no history.
inline constexpr std::uint64_t kQuorums = 100;
// A peer is inactive if it counted in less than this share of a window's quorums.
inline constexpr std::uint64_t kInactivePermille = 10;
// A peer that answers in fewer parts of the window (kPresenceSlots) is away, not slow.
inline constexpr std::uint32_t kPresence = 5;
// A peer lags if its median latency is this multiple of that of the peers that count.
inline constexpr std::int64_t kLagFactor = 2;
// The default timeout of every wait for a peer or on a client's path (document 002, section 4).
inline constexpr Duration kStalledAfter = 5s;

}  // namespace thresholds

// A fault, or a sign of one.
enum class WarningKind : std::uint8_t {
  kBackgroundTasks,       // too many calls without a dependency id to a peer
  kRepeatedEntries,       // the same entries were sent to a peer again and again
  kNotFinalized,          // coroutines left the calls of their quorums behind
  kTransientPerformance,  // peers answer but never count: a hiccup of the others is everyone's
  kStalledWait,           // a wait has exceeded the default timeout
};

// "background-tasks", "repeated-entries", "not-finalized", "transient-performance", "stalled-wait"
const char* NameOf(WarningKind kind);

// At most one for each kind, coroutine or method, and set of peers in a window.
struct Warning {
  WarningKind kind = WarningKind::kBackgroundTasks;
  PeerId replica = kNobody;   // that gives the warning
  std::int64_t begin_ns = 0;  // of the window
  std::int64_t end_ns = 0;
  std::string coroutine;      // empty for warnings of calls
  std::string wait;           // "quorum 2/3", or the method of the calls
  std::vector<PeerId> peers;  // that the warning is about
  std::uint64_t count = 0;    // calls, sends, coroutines, quorums, or waits
  // For transient performance: the peers that count, each with its latencies (Table 5.2). For a
  // stalled wait the age is `worst_ns`.
  std::vector<PeerPresence> active;
  std::int64_t worst_ns = 0;

  // One sentence, with the figures.
  std::string Text() const;
};

// In the order of WarningKind, then of the facts.
std::vector<Warning> WarningsOf(const WindowFacts& facts);

}  // namespace depfast
