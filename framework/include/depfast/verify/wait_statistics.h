// WaitStatistics: the waits of coroutines, with number and duration.
//
// The rows are the raw data of the slowness propagation graph (document 001, section 3.3). A wait
// is on a client's path if its end led to the answer: it was a wait of the coroutine that answered,
// or of one that ended such a wait. Other waits delayed no client, however long they were.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/fields.h"
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
  std::int64_t path_ns = 0;     // of total_ns, the time on clients' paths
  DEPFAST_FIELDS(coroutine, event, needed, total, peers, count, total_ns, max_ns, has_dependency,
                 path_ns)
};

class WaitStatistics final : public ReportingProbe {
 public:
  static constexpr const char* kName = "waits";  // see MakeProbe

  WaitStatistics();
  ~WaitStatistics() override;

  // The row with the longest time in all first. Waits that have not ended count up to `now`, and
  // those that work for a client without an answer are on its path.
  std::vector<WaitRow> Rows(Time now) const;

  std::string Report(const Runtime& runtime) const override;
  // The rows of a report; nothing if it is malformed.
  static std::optional<std::vector<WaitRow>> Read(std::string_view report);

  void OnSpawn(const Runtime& runtime, const Task& task) override;
  void OnEnd(const Runtime& runtime, const Task& task) override;
  void OnRequest(const Runtime& runtime, PeerId peer, const Dependency& dependency) override;
  void OnAnswer(const Runtime& runtime, PeerId peer, const Dependency& dependency) override;
  void OnWait(const Runtime& runtime, const Task& task, const Event& event) override;
  void OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                 Outcome outcome) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace depfast
