// FactLog: the events of the probe of runtime verification, written down to be counted later.
//
// The probe only writes. It counts when the replica is idle, or when the log is full. Counting each
// event at once cost a replica with little load twice the latency.
//
// Names are string literals, so a record may outlive the coroutine, the call and the event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "depfast/carried_entries.h"
#include "depfast/dependency.h"
#include "depfast/event.h"
#include "depfast/host/probe.h"
#include "depfast/peer.h"
#include "depfast/rpc_event.h"
#include "depfast/time.h"

namespace depfast {

// A call, by the peer and the id.
struct CallKey {
  PeerId peer;
  CallId call;

  friend bool operator==(const CallKey&, const CallKey&) = default;

  static CallKey Of(const RpcCall& call) { return {call.peer(), call.id()}; }
};

struct CallRecord {
  CallKey key;
  const char* method;
  CarriedEntries carried;
  std::uint64_t task;  // that issued the call; 0: none
  Dependency::Kind work;
};

struct CallEndRecord {
  CallKey key;
  const char* method;
  CarriedEntries carried;
  bool answered;  // well-formed
  RpcError error;
};

// A request of a client, or of a replica that works for one.
struct RequestRecord {
  PeerId peer;
  std::uint64_t dependency;
};

// Such a request is answered.
struct AnswerRecord {
  PeerId peer;
  std::uint64_t dependency;
};

struct WaitRecord {
  RuntimeProbe::Task task;
  const void* event;  // only compared
};

struct WaitEndRecord {
  RuntimeProbe::Task task;
  const void* event;  // only compared
  const char* label;
  WaitDescription wait;
  Outcome outcome;
};

struct TaskEndRecord {
  std::uint64_t task;
};

class FactLog {
 public:
  FactLog() {
    records_.reserve(kRecordsMax + 1);
    large_.reserve(kRecordsMax);
  }

  // Requires: not full; `at` is not before that of an earlier record.
  template <typename Record>
  void Write(Time at, Record record) {
    if (at != latest_) [[unlikely]] {
      latest_ = at;
      records_.push_back({Kind::kTime, 0, static_cast<std::uint64_t>(at.count())});
    }
    Put(std::move(record));
  }
  bool half_full() const { return records_.size() >= kRecordsMax / 2; }
  bool full() const { return records_.size() >= kRecordsMax; }

  // Calls `count(at, record)` with each record, in the order in which they were written, and
  // forgets them.
  template <typename Count>
  void CountAll(const Count& count) {
    auto next_large = large_.cbegin();
    for (const auto& [kind, peer, value] : records_) {
      switch (kind) {
        case Kind::kTime:
          counted_ = Time(static_cast<Time::rep>(value));
          break;
        case Kind::kRequest:
          count(counted_, RequestRecord{peer, value});
          break;
        case Kind::kAnswer:
          count(counted_, AnswerRecord{peer, value});
          break;
        case Kind::kTaskEnd:
          count(counted_, TaskEndRecord{value});
          break;
        case Kind::kLarge:
          std::visit([&](const auto& large) { count(counted_, large); }, *next_large++);
          break;
      }
    }
    records_.clear();
    large_.clear();
  }

 private:
  static constexpr std::size_t kRecordsMax = 256;

  // Most records are small: a busy leader has two for each command, and the others once a round. So
  // these are kept small, and the time is written once for all records of a step.
  enum class Kind : std::uint8_t { kTime, kRequest, kAnswer, kTaskEnd, kLarge };
  struct Small {
    Kind kind;
    PeerId peer;
    std::uint64_t value;  // nanoseconds, a dependency id or a task
  };
  using Large = std::variant<CallRecord, CallEndRecord, WaitRecord, WaitEndRecord>;

  void Put(const RequestRecord& record) {
    records_.push_back({Kind::kRequest, record.peer, record.dependency});
  }
  void Put(const AnswerRecord& record) {
    records_.push_back({Kind::kAnswer, record.peer, record.dependency});
  }
  void Put(const TaskEndRecord& record) {
    records_.push_back({Kind::kTaskEnd, kNobody, record.task});
  }
  void Put(Large&& record) {
    records_.push_back({Kind::kLarge, kNobody, 0});
    large_.push_back(std::move(record));
  }

  std::vector<Small> records_;
  std::vector<Large> large_;
  Time latest_{-1};  // of the records that were written
  Time counted_{0};  // of the records that were counted
};

}  // namespace depfast
