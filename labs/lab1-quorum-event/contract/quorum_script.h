// Quorum scripts: what the tests of lab 1 ask a replica to do with QuorumEvents, as data.
//
// A test cannot call your class: it runs in another process. It sends a script to replica 0, whose
// driver performs it in coroutines and answers with a log of what happened and when. The driver
// reports; what ought to have happened is known to the test alone.
#pragma once

#include <cstdint>
#include <msgpack.hpp>
#include <string>
#include <vector>

#include "depfast/host/frame.h"

namespace depfast::lab1 {

// One operation. Events are named by numbers that the script chooses, each for one event. Times are
// nanoseconds, moments are counted from the start of the script; kForeverNs is no timeout.
enum class Op : std::uint8_t {
  // These make `event`.
  kMakeQuorum = 0,    // QuorumEvent(a, b)
  kMakeMajority = 1,  // QuorumEvent::Majority(a)
  kMakeValue = 2,     // a ValueEvent of 0, ready while the value is above 0
  kMakePromise = 3,   // an event that the script keeps (ready) or breaks (failed)
  kMakeTimer = 4,     // a TimeoutEvent, `a` from now
  kMakeCall = 5,      // an RPC to peer `a` with timeout `b`; the peer does what `plan` says
  kMakeAnd = 6,       // an AndEvent without children
  kMakeOr = 7,        // an OrEvent without children
  kBroadcast = 8,     // a Broadcast to all other replicas; its calls become children of `other`
  // These act on `event`.
  kAdd = 9,        // event.Add(other); `a` is an Accept. `other` kNoEvent: a null child
  kVoteYes = 10,   // of voter `a`
  kVoteNo = 11,    // of voter `a`
  kSet = 12,       // a value to `a`
  kKeep = 13,      // a promise
  kBreak = 14,     // a promise
  kRelease = 15,   // what a broadcast still waits for
  kWait = 16,      // for at most `a`
  kLook = 17,      // report everything the event says about itself
  kAccepts = 18,   // report how often accept has been called for the child `event`
  kDrop = 19,      // forget the event: nothing in the script refers to it any more
  kIsFreed = 20,   // report whether a dropped event has been destroyed
  kNote = 21,      // nothing: the log shows when the coroutine came here
  kVoteLost = 22,  // of voter `a`
};

inline constexpr std::int32_t kNoEvent = -1;
inline constexpr std::int64_t kForeverNs = -1;
inline constexpr std::int64_t kAtOnce = -1;

// The predicate that comes with a child.
enum class Accept : std::uint8_t {
  kNone = 0,  // no predicate
  kTrue = 1,
  kFalse = 2,
  kReply = 3,  // true if the call's reply says yes
};

// What a peer does with a call.
struct PeerPlan {
  enum class Answer : std::uint8_t {
    kYes = 0,
    kNo = 1,
    kThrow = 2,    // an error answer
    kNothing = 3,  // it never answers
    kGarbled = 4,  // a reply that cannot be decoded
    kUnknown = 5,  // the caller calls a method that nobody serves
  };
  Answer answer = Answer::kYes;
  std::int64_t delay_ns = 0;
  MSGPACK_DEFINE(answer, delay_ns)
};

struct Step {
  std::int32_t coroutine = 0;    // those of one number run one after the other
  std::int64_t at_ns = kAtOnce;  // sleeps until then before
  Op op = Op::kNote;
  std::int32_t event = kNoEvent;
  std::int32_t other = kNoEvent;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::vector<PeerPlan> plan;  // by replica, for calls; short ones are filled up with the default
  MSGPACK_DEFINE(coroutine, at_ns, op, event, other, a, b, plan)
};

// How a step ended.
enum class Result : std::uint8_t {
  kDone = 0,
  kReady = 1,  // a wait's three outcomes
  kFailed = 2,
  kTimedOut = 3,
  kInvalidArgument = 4,  // it threw std::invalid_argument
  kOutOfRange = 5,       // it threw std::out_of_range
  kThrew = 6,            // it threw something else
  kNoSuchEvent = 7,      // the step names an event that does not exist, or is of another kind
};

// What an event says about itself. The first four lines are a QuorumEvent's alone.
struct Look {
  bool ready = false;
  bool fail = false;
  bool timed_out = false;
  std::int32_t yes = 0, no = 0, lost = 0, needed = 0, total = 0;
  bool is_ready = false;
  bool is_failed = false;
  std::int32_t wait_needed = 0, wait_total = 0;  // of DescribeWait()
  std::string peers;                             // of DescribeWait(): see DescribePeers
  std::string label;
  MSGPACK_DEFINE(ready, fail, timed_out, yes, no, lost, needed, total, is_ready, is_failed,
                 wait_needed, wait_total, peers, label)
};

struct LogLine {
  std::uint32_t step = 0;  // its place in the script, from 0
  std::int64_t time_ns = 0;
  Result result = Result::kDone;
  std::int64_t value = 0;  // of kAccepts, kDrop and kIsFreed
  std::vector<Look> look;  // one, of kLook
  std::string text;        // of an exception
  MSGPACK_DEFINE(step, time_ns, result, value, look, text)
};

// In the order in which the steps ended. A step that has not ended by `give_up_ns` is missing, and
// so are those after it in its coroutine.
struct ScriptLog {
  std::vector<LogLine> lines;
  MSGPACK_DEFINE(lines)
};

struct RunScript {
  using Reply = ScriptLog;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "RunScript";
  std::vector<Step> steps;
  std::int64_t give_up_ns = 0;
  MSGPACK_DEFINE(steps, give_up_ns)
};

// The call that scripts make to peers.
struct Answer {
  bool yes = false;
  MSGPACK_DEFINE(yes)
};

struct Ask {
  using Reply = Answer;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Ask";
  std::vector<PeerPlan> plan;
  MSGPACK_DEFINE(plan)
};

}  // namespace depfast::lab1

MSGPACK_ADD_ENUM(depfast::lab1::Op)
MSGPACK_ADD_ENUM(depfast::lab1::Result)
MSGPACK_ADD_ENUM(depfast::lab1::PeerPlan::Answer)
