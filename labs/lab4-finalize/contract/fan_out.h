// Fan-outs: what a test of Finalize asks a replica to do, as data.
//
// A test cannot call your Finalize: it runs in another process. It sends a list of fan-outs to
// replica 0. The driver there broadcasts, waits, calls Finalize, and answers with a report of
// counts. It observes each moment when it comes, and the test reads the simulator's clock. All
// times are nanoseconds; moments are counted from the beginning of the list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/host/frame.h"

namespace depfast::lab4 {

// A peer's treatment of a request.
struct PeerPlan {
  enum class Answer : std::uint8_t {
    kYes = 0,
    kNo = 1,
    kError = 2,    // its handler throws
    kNothing = 3,  // it never answers
  };
  Answer answer = Answer::kYes;
  std::int64_t delay_ns = 0;
  DEPFAST_FIELDS(answer, delay_ns)
};

// A broadcast to all peers, a quorum of their answers, and Finalize.
struct FanOut {
  std::int64_t at_ns = 0;
  std::int32_t needed = 1;          // of the quorum, in which each peer is a voter
  std::vector<PeerPlan> plan = {};  // by peer, ascending; a peer beyond the end answers yes at once
  std::uint32_t payload = 0;        // bytes of each request

  // When Finalize is called: before the Wait, or after it.
  bool finalize_first = false;
  // The driver drops the quorum and the event of Finalize once Finalize has returned and the Wait
  // has ended.
  bool forgets = false;
  std::int64_t wait_ns = 0;  // the timeout of the Wait
  std::int64_t grace_ns = 0;
  DEPFAST_FIELDS(at_ns, needed, plan, payload, finalize_first, forgets, wait_ns, grace_ns)
};

inline constexpr std::int64_t kNeverNs = -1;

// Observations of the driver. Values: the number of the fan-out, a Moment, and of a
// call the peer's place and the CallReport::End.
inline constexpr std::uint32_t kFanOutMoment = 401;
enum class Moment : std::uint8_t { kBegun, kWaited, kCalled, kReturned, kEnded, kFailed, kCall };

// A call of a fan-out at the end of the list.
struct CallReport {
  enum class End : std::uint8_t { kNone = 0, kAnswered = 1, kFailed = 2, kReleased = 3 };
  End end = End::kNone;
  std::int64_t at_ns = kNeverNs;  // when it was decided
};

// A replica sends the fields that DEPFAST_FIELDS lists. The test fills in the others from the
// observations.
struct FanOutReport {
  std::int64_t waited_ns = kNeverNs;    // the end of the Wait
  std::int64_t called_ns = kNeverNs;    // the call of Finalize, ...
  std::int64_t returned_ns = kNeverNs;  // ... and its return
  std::int64_t ended_ns = kNeverNs;     // the event of Finalize was ready; never if it is forgotten
  bool failed = false;                  // that event has failed instead
  // The quorum's counts at the end of the list; zero if it is forgotten.
  std::int32_t yes = 0, no = 0, lost = 0;
  std::vector<CallReport> calls;  // by peer, ascending
  std::int32_t asked = 0;         // answers about which the quorum has asked its `accept`
  // The quorum is alive at the end of the list, although the driver has dropped it.
  bool is_kept = false;
  DEPFAST_FIELDS(yes, no, lost, asked, is_kept)
};

// In the order of the list.
struct FanOutReports {
  std::vector<FanOutReport> fan_outs;
  DEPFAST_FIELDS(fan_outs)
};

// Performs the fan-outs, each in a coroutine of its own, and answers at `end_ns`.
struct RunFanOuts {
  using Reply = FanOutReports;
  static constexpr MethodId kMethod = 101;
  static constexpr const char* kName = "RunFanOuts";
  std::vector<FanOut> fan_outs;
  std::int64_t end_ns = 0;
  std::uint64_t first = 0;  // the number of the first one: an earlier list has calls under way
  DEPFAST_FIELDS(fan_outs, end_ns, first)
};

struct Answer {
  bool yes = false;
  DEPFAST_FIELDS(yes)
};

// The request of a fan-out to its peers.
struct Ask {
  using Reply = Answer;
  static constexpr MethodId kMethod = 102;
  static constexpr const char* kName = "Ask";
  std::vector<PeerPlan> plan;  // by replica
  std::string payload;
  DEPFAST_FIELDS(plan, payload)
};

}  // namespace depfast::lab4
