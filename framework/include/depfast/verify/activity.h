// Activity: the calls and waits of a replica in one window of time. Detectors read it.
//
// A window is a value: it can be recorded, sent and made up. All times are nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/fields.h"
#include "depfast/peer.h"
#include "depfast/verify/wait_times.h"

namespace depfast {

// The calls to one peer. The wait for a call lasts from the call to its reply, its failure, or its
// release, whether or not a coroutine waits for it.
struct PeerActivity {
  PeerId peer = kNobody;
  std::uint64_t calls = 0;     // issued in the window
  std::uint64_t replies = 0;   // that came in the window
  std::uint64_t timeouts = 0;  // calls that failed in the window since they timed out, ...
  std::uint64_t failures = 0;  // ... and for another reason
  std::uint64_t released = 0;  // calls that were given up in the window: see Rpc::Release
  WaitTimes ended = {};        // for the calls that ended in the window, in any of these ways
  WaitTimes open =
      {};  // for the calls that are outstanding at the end of the window: their time so far

  friend bool operator==(const PeerActivity&, const PeerActivity&) = default;
  DEPFAST_FIELDS(peer, calls, replies, timeouts, failures, released, ended, open)
};

// The waits of the coroutines of one name for events of one label (Event::Label).
struct CoroutineActivity {
  std::string coroutine = {};
  std::string event = {};
  std::uint64_t timed_out = 0;  // of `ended`
  WaitTimes ended = {};         // that ended in the window: their whole time
  WaitTimes open = {};          // that had not ended at the end of the window: their time so far

  friend bool operator==(const CoroutineActivity&, const CoroutineActivity&) = default;
  DEPFAST_FIELDS(coroutine, event, timed_out, ended, open)
};

// The activity of one replica, from `from_ns` until just before `to_ns`.
struct ActivityWindow {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;

  // The steps that began in the window: their processor time, and the time that they took. The
  // second is longer where the processor is slow or shared: see StepUsage.
  std::uint64_t steps = 0;
  std::int64_t cost_ns = 0;
  std::int64_t took_ns = 0;

  // The peers with a call in the window, or with an open one: ascending, each once.
  std::vector<PeerActivity> peers = {};
  // The waits of the window, or open at its end: ascending by coroutine and event, each pair once.
  std::vector<CoroutineActivity> coroutines = {};

  friend bool operator==(const ActivityWindow&, const ActivityWindow&) = default;
  DEPFAST_FIELDS(from_ns, to_ns, steps, cost_ns, took_ns, peers, coroutines)
};

}  // namespace depfast
