// Measurement: one run of a subject under load, with some replicas slow, dead, or none.
//
// Two runs with the same seed are a pair. They are the same run until the fault begins. So they
// have the same proposers and the same arrivals, and differ by the fault alone.
#pragma once

#include <fstream>
#include <functional>
#include <optional>
#include <vector>

#include "answer_checker.h"
#include "flows.h"
#include "pending_requests.h"
#include "run_options.h"
#include "run_result.h"
#include "sim/simulator.h"
#include "subject.h"
#include "testkit/history.h"
#include "testkit/load.h"
#include "testkit/recorder.h"

namespace depfast::measure {

class Measurement : private sim::Observer {
 public:
  // `make_backend` makes the replicas. `recorder`: null, or it records the run, and outlives it.
  // Throws std::invalid_argument, in one line, if the options make no run.
  Measurement(const RunOptions& options, sim::BackendFactory make_backend,
              const MakeSubject& make_subject, testkit::Recorder* recorder = nullptr);

  // Call it once. Throws like the constructor.
  RunResult Run();

 private:
  void OnWorld(Time now, const std::string& what) override { history_.Add(now, what); }
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;

  // A recorder hears of each step before the subject's checker does.
  sim::Simulator& WatchedBy(testkit::Recorder* recorder);
  void WriteTrace();
  // Runs until the client's first command is committed: then the client knows the proposers, and
  // asks no replica that is about to become slow. Returns whether that succeeded.
  bool Elect();
  void ScheduleFault(const std::vector<PeerId>& proposers);
  std::vector<PeerId> VictimsAmong(const std::vector<PeerId>& proposers) const;
  void BeginFault(const std::vector<PeerId>& victims);
  std::vector<PeerId> AllReplicas() const;
  // The figures of the load at an end, once it has passed.
  using FiguresAt = std::function<testkit::LoadResult(Time end)>;
  FiguresAt BeginLoad();
  void BeginOnset();
  void MeasureWindow(const std::vector<PeerId>& proposers);
  void SeeProposers(Time now);
  bool IsSlow(PeerId replica) const;
  // At the window's end, of the replicas that are not slow.
  void MeasureUnfinished();
  // Returns why the replica's report of unfinished work cannot be true; empty if it may be.
  std::string WhyUntrue(PeerId replica, const std::optional<std::vector<UnfinishedRow>>& rows);
  // From the end of the window, when everything heals, until every replica has applied the entries
  // committed at that moment, and the log is in its fast mode. Then at least until the end of the
  // drain.
  void MeasureCatchUp();
  bool HaveAllApplied(std::uint64_t committed) const;
  std::string Problem() const;
  std::string Violation() const;

  const RunOptions options_;
  std::ofstream trace_file_;
  sim::Simulator simulator_;
  testkit::History history_;
  Flows flows_;  // if the run is to be explained
  PendingRequests pending_;
  const Subject subject_;
  AnswerChecker answers_;
  testkit::LoadWindow window_;
  std::optional<testkit::ClosedLoop> crowd_;  // of a changing closed loop, all but one client
  std::vector<PeerId> slow_;                  // the replicas that the fault strikes
  std::vector<PeerId> proposers_;             // the latest, of a run with an onset
  RunResult result_;
};

}  // namespace depfast::measure
