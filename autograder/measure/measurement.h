// Measurement: one run of a subject under load, with some replicas slow, dead, or none.
//
// Two runs with the same seed are a pair. They are the same run until the fault begins. So they
// have the same proposers and the same arrivals, and differ by the fault alone.
#pragma once

#include <optional>
#include <vector>

#include "run_options.h"
#include "run_result.h"
#include "sim/simulator.h"
#include "subject.h"
#include "testkit/history.h"
#include "testkit/load.h"

namespace depfast::measure {

class Measurement : private sim::Observer {
 public:
  // `make_backend` makes the replicas. Throws std::invalid_argument, in one line, if the options
  // make no run.
  Measurement(const RunOptions& options, sim::BackendFactory make_backend,
              const MakeSubject& make_subject);

  // Call it once. Throws like the constructor.
  RunResult Run();

 private:
  void OnWorld(Time now, const std::string& what) override { history_.Add(now, what); }

  // Runs until the client's first command is committed: then the client knows the proposers, and
  // asks no replica that is about to become slow. Returns whether that succeeded.
  bool Elect();
  void StartLoad();
  const testkit::LoadResult& load() const;
  void MeasureUnderFault(const std::vector<PeerId>& proposers);
  // From the end of the fault until every replica has applied the entries committed at that moment.
  void MeasureCatchUp();
  bool HaveAllApplied(std::uint64_t committed) const;
  std::string Problem() const;

  const RunOptions options_;
  sim::Simulator simulator_;
  testkit::History history_;
  const Subject subject_;
  testkit::LoadWindow window_;
  std::optional<testkit::ClosedLoop> closed_;  // one of the two, once the load has begun
  std::optional<testkit::OpenLoop> open_;
  RunResult result_;
};

}  // namespace depfast::measure
