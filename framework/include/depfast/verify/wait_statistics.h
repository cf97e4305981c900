// WaitStatistics: the waits of coroutines, with number and duration.
//
// The rows are the raw data of the slowness propagation graph (document 001, section 3.3).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "depfast/host/probe.h"
#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast {

// The waits of coroutines of one name on one kind of event and one set of peers.
struct WaitRow {
  std::string coroutine;
  std::string event;  // its label
  int needed = 1;
  int total = 1;
  std::vector<PeerId> peers;  // ascending; empty if the waits were on no peer
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;
  MSGPACK_DEFINE(coroutine, event, needed, total, peers, count, total_ns, max_ns)
};

class WaitStatistics final : public ReportingProbe {
 public:
  static constexpr const char* kName = "waits";  // see MakeProbe

  // The row with the longest time in all first. Waits that have not ended count up to `now`.
  std::vector<WaitRow> Rows(Time now) const;

  std::string Report(const Runtime& runtime) const override;
  // The rows of a report; nothing if it is malformed.
  static std::optional<std::vector<WaitRow>> Read(std::string_view report);

  void OnWait(const Runtime& runtime, const Task& task, const Event& event) override;
  void OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                 Outcome outcome) override;

 private:
  // The fields that distinguish rows.
  using Key = std::tuple<std::string, std::string, int, int, std::vector<PeerId>>;
  struct Totals {
    std::uint64_t count = 0;
    Duration total{0};
    Duration max{0};

    void Add(Duration time);
  };
  // A wait that has not ended.
  struct Open {
    const char* coroutine = "";
    std::weak_ptr<const Event> event;  // expired once the replica has stopped
    Time since{0};
  };

  static Key KeyOf(const char* coroutine, const Event& event);

  std::map<Key, Totals> totals_;
  std::map<std::uint64_t, Open> open_;  // by the coroutine's id
};

}  // namespace depfast
