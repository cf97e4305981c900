// FactLog: what the probe of runtime verification is told, written down to be counted later.
//
// The probe only writes, and counts when the log is full. Counting each event at once cost a
// replica with little load twice the latency (decision record 0047).
//
// Names are string literals, so a record may outlive the coroutine, the call and the event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
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

// Of a client, or of a replica that works for one.
struct RequestRecord {
  PeerId peer;
  std::uint64_t dependency;
};

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
    records_.reserve(kRecordsMax);
    large_.reserve(kRecordsMax);
  }

  // Requires: not full.
  template <typename Record>
  void Write(Time at, Record&& record) {
    if constexpr (std::is_constructible_v<Small, Record>) {
      records_.push_back({at, std::forward<Record>(record)});
    } else {
      records_.push_back({at, InLarge()});
      large_.emplace_back(std::forward<Record>(record));
    }
  }
  bool full() const { return records_.size() == kRecordsMax; }

  // Calls `count(at, record)` with each record, in the order in which they were written, and
  // forgets them.
  template <typename Count>
  void CountAll(const Count& count) {
    auto next_large = large_.cbegin();
    for (const auto& [at, small] : records_) {
      std::visit(
          [&, time = at](const auto& record) {
            if constexpr (std::is_same_v<const InLarge&, decltype(record)>) {
              std::visit([&](const auto& large) { count(time, large); }, *next_large++);
            } else {
              count(time, record);
            }
          },
          small);
    }
    records_.clear();
    large_.clear();
  }

 private:
  static constexpr std::size_t kRecordsMax = 256;

  // Most records are small: a busy leader has two for each command, and the others once a round.
  struct InLarge {};
  using Small = std::variant<RequestRecord, AnswerRecord, TaskEndRecord, InLarge>;
  using Large = std::variant<CallRecord, CallEndRecord, WaitRecord, WaitEndRecord>;

  std::vector<std::pair<Time, Small>> records_;
  std::vector<Large> large_;
};

}  // namespace depfast
