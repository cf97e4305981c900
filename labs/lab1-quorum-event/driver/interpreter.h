// Interpreter: performs one quorum script against the QuorumEvent it is compiled with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/compound_event.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "quorum_event.h"
#include "quorum_script.h"

namespace depfast::lab1 {

// An event that somebody keeps or breaks, once.
class Promise : public Event {
 public:
  void Keep() { End(Outcome::kReady); }
  void Break() { End(Outcome::kFailed); }

  bool IsReady() const override { return outcome_ == Outcome::kReady; }
  bool IsFailed() const override { return outcome_ == Outcome::kFailed; }
  const char* Label() const override { return "promise"; }
  std::string Describe() const override { return "Promise"; }

 private:
  void End(Outcome outcome) {
    if (IsDecided()) return;
    outcome_ = outcome;
    Test();
  }

  Outcome outcome_ = Outcome::kTimedOut;
};

// Held in a shared_ptr: its coroutines keep it alive, also when the script has been given up.
class Interpreter : public std::enable_shared_from_this<Interpreter> {
 public:
  Interpreter(Runtime& runtime, RunScript script);

  // Performs the script. Returns when every coroutine has ended, or at give_up_ns.
  ScriptLog Run();

 private:
  // What a child's accept predicate has been asked.
  struct Predicate {
    Accept answer = Accept::kNone;
    std::weak_ptr<Event> child;
    std::int64_t calls = 0;
  };

  void RunCoroutine(std::int32_t coroutine);
  void Perform(std::uint32_t number);
  void Do(const Step& step, LogLine& line);  // may throw what the student's code throws
  void Make(const Step& step);
  void Act(const Step& step, LogLine& line);
  void Add(const Step& step);
  void Drop(const Step& step, LogLine& line);
  void Broadcast(const Step& step);
  void LookAt(const Step& step, LogLine& line);
  QuorumEvent::Accept MakePredicate(std::int32_t child, Accept answer);

  // The event of that number. Throws NoSuchEvent if there is none, or it is no T.
  template <typename T>
  std::shared_ptr<T> Get(std::int32_t event);

  Runtime& runtime_;
  const RunScript script_;
  const Time start_;
  std::shared_ptr<IntEvent> ended_;  // coroutines
  std::map<std::int32_t, EventPtr> events_;
  std::map<std::int32_t, std::weak_ptr<Event>> dropped_;
  std::map<std::int32_t, std::shared_ptr<Predicate>> predicates_;  // by child
  std::map<std::int32_t, std::unique_ptr<BroadcastCalls>> broadcasts_;
  ScriptLog log_;
};

}  // namespace depfast::lab1
