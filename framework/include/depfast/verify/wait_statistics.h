// WaitStatistics: the waits of coroutines, with number and duration.
//
// The rows are the raw data of the slowness propagation graph (document 001, section 3.3). A wait
// is on a client's path while the request that its coroutine works for has no answer: only then can
// it delay the client.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <msgpack.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "depfast/host/probe.h"
#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast {

// The waits of coroutines of one name, working for one kind of request, on one kind of event and
// one set of peers.
struct WaitRow {
  std::string coroutine;
  std::string event;  // its label
  int needed = 1;
  int total = 1;
  std::vector<PeerId> peers;  // ascending; empty if the waits were on no peer
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;
  bool has_dependency = false;  // the coroutines worked for a client or a heartbeat
  std::int64_t path_ns = 0;     // of total_ns, the time on a client's path
  MSGPACK_DEFINE(coroutine, event, needed, total, peers, count, total_ns, max_ns, has_dependency,
                 path_ns)
};

class WaitStatistics final : public ReportingProbe {
 public:
  static constexpr const char* kName = "waits";  // see MakeProbe

  // The row with the longest time in all first. Waits that have not ended count up to `now`.
  std::vector<WaitRow> Rows(Time now) const;

  std::string Report(const Runtime& runtime) const override;
  // The rows of a report; nothing if it is malformed.
  static std::optional<std::vector<WaitRow>> Read(std::string_view report);

  void OnAnswer(const Runtime& runtime, PeerId peer, const Dependency& dependency) override;
  void OnWait(const Runtime& runtime, const Task& task, const Event& event) override;
  void OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                 Outcome outcome) override;

 private:
  // The fields that distinguish rows.
  using Key = std::tuple<std::string, std::string, int, int, std::vector<PeerId>, bool>;
  struct Totals {
    std::uint64_t count = 0;
    Duration total{0};
    Duration max{0};
    Duration path{0};

    void Add(Duration time, Duration on_path);
  };
  // A wait that has not ended.
  struct Open {
    Task task;
    std::weak_ptr<const Event> event;  // expired once the replica has stopped
    Time since{0};
    bool on_path = false;
    Duration path{0};  // until the client had its answer; unused if on_path

    Duration PathAt(Time now) const { return on_path ? now - since : path; }
  };

  static Key KeyOf(const Task& task, const Event& event);

  std::map<Key, Totals> totals_;
  std::map<std::uint64_t, Open> open_;  // by the coroutine's id
  std::set<std::uint64_t> answered_;    // ids of clients' requests
};

}  // namespace depfast
