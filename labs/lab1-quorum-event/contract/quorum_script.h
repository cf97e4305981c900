// Quorum scripts: the operations on QuorumEvents that a test of lab 1 requests of a replica, as
// data.
//
// A test cannot call your class: it runs in another process. It sends a script to replica 0. The
// driver of replica 0 performs the script in coroutines, and answers with a log of results and
// times. The driver only reports: the test alone knows the expected results.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "depfast/host/frame.h"

namespace depfast::lab1 {

// The operations of a script. Each has a name, the kind of event that it makes, and a description
// for people. In a description, Script::Describe replaces {...}. A script names its events by
// numbers that it chooses, each for one event. Times are nanoseconds; moments are counted from the
// start of the script.
//
// A value event is ready while its value is above 0. A promise is undecided until the script keeps
// or breaks it. kLook reports every property of an event, kAccepts how often a quorum called accept
// for a child, kIsFreed whether a dropped event was destroyed. kNote has no effect: the log shows
// when the coroutine reached it.
#define LAB1_OPERATIONS(OP)                                                                       \
  OP(kMakeQuorum, "quorum", "make {event}, QuorumEvent({a}, {b})")                                \
  OP(kMakeMajority, "quorum", "make {event}, QuorumEvent::Majority({a})")                         \
  OP(kMakeValue, "value", "make {event}")                                                         \
  OP(kMakePromise, "promise", "make {event}")                                                     \
  OP(kMakeTimer, "timer", "make {event}, ready after {time a}")                                   \
  OP(kMakeCall, "call", "make {event} to replica {a}, which answers {plan}{timeout b}")           \
  OP(kMakeAnd, "and", "make {event}")                                                             \
  OP(kMakeOr, "or", "make {event}")                                                               \
  OP(kBroadcast, "broadcast", "{event} to all peers, their calls are children of {other}{plans}") \
  OP(kAdd, "", "add {other} to {event}{accept a}")                                                \
  OP(kVoteYes, "", "voter {a} of {event} says yes")                                               \
  OP(kVoteNo, "", "voter {a} of {event} says no")                                                 \
  OP(kSet, "", "set {event} to {a}")                                                              \
  OP(kKeep, "", "make {event} ready")                                                             \
  OP(kBreak, "", "let {event} fail")                                                              \
  OP(kRelease, "", "release {event}")                                                             \
  OP(kWait, "", "wait for {event}{limit a}")                                                      \
  OP(kLook, "", "look at {event}")                                                                \
  OP(kAccepts, "", "count the calls of accept for {other} by {event}")                            \
  OP(kDrop, "", "drop the last reference to {event}")                                             \
  OP(kIsFreed, "", "look whether {event} has been destroyed")                                     \
  OP(kNote, "", "come here")                                                                      \
  OP(kVoteLost, "", "voter {a} of {event} is lost")

enum class Op : std::uint8_t {
#define LAB1_NAME(name, makes, text) name,
  LAB1_OPERATIONS(LAB1_NAME)
#undef LAB1_NAME
};

inline constexpr std::int32_t kNoEvent = -1;
inline constexpr std::int64_t kForeverNs = -1;  // no timeout
inline constexpr std::int64_t kAtOnce = -1;     // as soon as the steps before have ended

// The predicate that comes with a child.
enum class Accept : std::uint8_t {
  kNone = 0,  // no predicate
  kTrue = 1,
  kFalse = 2,
  kReply = 3,   // true if the call's reply says yes
  kReject = 4,  // true if the call's reply says no
};

// A peer's treatment of a call.
struct PeerPlan {
  enum class Answer : std::uint8_t {
    kYes = 0,
    kNo = 1,
    kThrow = 2,    // an error answer
    kNothing = 3,  // it never answers
    kGarbled = 4,  // a reply that cannot be decoded
    kUnknown = 5,  // the caller calls a method that no replica serves
  };
  Answer answer = Answer::kYes;
  std::int64_t delay_ns = 0;
  DEPFAST_FIELDS(answer, delay_ns)
};

// The steps of one coroutine run one after the other.
struct Step {
  std::int32_t coroutine = 0;
  std::int64_t at_ns = kAtOnce;  // the coroutine sleeps until then before the step
  Op op = Op::kNote;
  std::int32_t event = kNoEvent;
  std::int32_t other = kNoEvent;
  std::int64_t a = 0;
  std::int64_t b = 0;
  // By replica, for calls. A replica beyond the end follows the default plan.
  std::vector<PeerPlan> plan = {};
  DEPFAST_FIELDS(coroutine, at_ns, op, event, other, a, b, plan)
};

// The end of a step.
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

// The properties of an event; only a QuorumEvent has the fields before is_ready. The type of a
// field is Field<T>: T in a log, std::optional<T> in an expectation.
template <template <typename> class Field>
struct LookOf {
  Field<bool> ready{};
  Field<bool> fail{};
  Field<bool> timed_out{};
  Field<std::int32_t> yes{}, no{}, lost{}, needed{}, total{};
  Field<bool> is_ready{};
  Field<bool> is_failed{};
  Field<std::int32_t> wait_needed{}, wait_total{};  // of DescribeWait()
  Field<std::string> peers{};                       // of DescribeWait(), as in "1 yes, 2 lost"
  Field<std::string> label{};
  DEPFAST_FIELDS(ready, fail, timed_out, yes, no, lost, needed, total, is_ready, is_failed,
                 wait_needed, wait_total, peers, label)
};
using Look = LookOf<std::type_identity_t>;

struct LogLine {
  std::uint32_t step = 0;  // its place in the script, from 0
  std::int64_t time_ns = 0;
  Result result = Result::kDone;
  std::int64_t value = 0;  // of kAccepts, kDrop and kIsFreed
  std::vector<Look> look;  // one, of kLook
  std::string text;        // of an exception
  DEPFAST_FIELDS(step, time_ns, result, value, look, text)
};

// In the order in which the steps ended. A step that has not ended by `give_up_ns` is missing, and
// so are those after it in its coroutine.
struct ScriptLog {
  std::vector<LogLine> lines;
  DEPFAST_FIELDS(lines)
};

struct RunScript {
  using Reply = ScriptLog;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "RunScript";
  std::vector<Step> steps;
  std::int64_t give_up_ns = 0;
  DEPFAST_FIELDS(steps, give_up_ns)
};

}  // namespace depfast::lab1
