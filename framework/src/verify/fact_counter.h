// FactCounter: counts the events of a replica, for the facts of a window.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/verify/window_facts.h"
#include "verify/client_paths.h"
#include "verify/fact_log.h"
#include "verify/window_rows.h"

namespace depfast {

class FactCounter {
 public:
  // Requires: records come in the order of their times.
  template <typename Record>
  void Count(Time at, const Record& record) {
    Advance(at);
    CountOne(record);
  }

  // The replica has a step at `now`.
  void Advance(Time now) {
    if (now != latest_) before_ = std::exchange(latest_, now);
  }

  // The facts of the window that is under way. Requires: all records before `end` are counted, and
  // the replica has a step at or after it, or is between two steps.
  WindowFacts FactsUntil(const Runtime& runtime, Time end) const;

  // Forgets the facts of the window before.
  void BeginWindow(Time begin);

 private:
  // A call that is not decided.
  struct OpenCall {
    Time sent{0};
    std::uint64_t task = 0;  // that issued it; 0: none
    // Since the latest end of a wait of the task for a quorum with this peer; else unused.
    Time leave_by = kNever;           // left behind after this time
    const char* coroutine = nullptr;  // the name of the task
    const void* quorum = nullptr;     // the event that was waited on; only compared
    bool counted = false;             // as left behind
  };
  struct CallKeyHash {
    std::size_t operator()(const CallKey& key) const {
      return RandomStream::Mix(key.call ^ (static_cast<std::uint64_t>(key.peer) << 40));
    }
  };

  void CountOne(const CallRecord& call);
  void CountOne(const CallEndRecord& end);
  void CountOne(const RequestRecord& request);
  void CountOne(const AnswerRecord& answer);
  void CountOne(const WaitRecord& wait);
  void CountOne(const WaitEndRecord& end);
  void CountOne(const TaskEndRecord& end);

  // Whether a call is outstanding for too long. A replica that was itself held up is not blamed: it
  // must have had a step after the time was over.
  bool IsLeftBehind(const OpenCall& call) const { return call.leave_by < before_; }
  static void LeftBehind(WindowRows& to, OpenCall& call, PeerId peer);
  void Detach(std::uint64_t task, const CallKey& call);
  void BeginGrace(const WaitEndRecord& end);
  void EndGrace(const WaitRecord& wait);
  void AddHistory(const WaitEndRecord& end);

  Time window_begin_{0};
  Time latest_{0};  // of the latest step with a record
  Time before_{0};  // of the one before it
  WindowRows rows_;
  ClientPaths paths_;

  // Each call adds an element and removes it: the pool keeps the memory.
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::unordered_map<CallKey, OpenCall, CallKeyHash> calls_{&pool_};
  std::pmr::unordered_map<std::uint64_t, std::pmr::vector<CallKey>> calls_of_task_{&pool_};  // open
  std::set<std::uint64_t> gave_up_;  // tasks whose wait for a quorum was not ready, with open calls
};

}  // namespace depfast
