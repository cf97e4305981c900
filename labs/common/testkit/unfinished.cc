#include "unfinished.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "depfast/verify/unfinished_work.h"

namespace depfast {
namespace {

std::vector<UnfinishedRow> RowsOf(sim::Simulator& simulator, PeerId replica) {
  std::optional<std::vector<UnfinishedRow>> rows;
  if (simulator.IsUp(replica)) {
    rows = UnfinishedWork::Read(simulator.Report(replica, UnfinishedWork::kName));
  }
  if (!rows) ADD_FAILURE() << "replica " << replica << " gives no report of its unfinished work";
  return std::move(rows).value_or(std::vector<UnfinishedRow>());
}

}  // namespace

std::uint64_t UnfinishedCoroutines(sim::Simulator& simulator, PeerId replica) {
  std::uint64_t count = 0;
  for (const UnfinishedRow& row : RowsOf(simulator, replica)) {
    if (row.peer == UnfinishedRow::kNoPeer) count += row.now;
  }
  return count;
}

std::uint64_t OutstandingCallsTo(sim::Simulator& simulator, PeerId replica, PeerId peer) {
  std::uint64_t count = 0;
  for (const UnfinishedRow& row : RowsOf(simulator, replica)) {
    if (row.peer == peer) count += row.now;
  }
  return count;
}

std::uint64_t OutstandingCallsOf(sim::Simulator& simulator, PeerId replica, MethodId method) {
  std::uint64_t count = 0;
  for (const UnfinishedRow& row : RowsOf(simulator, replica)) {
    if (row.method == method) count += row.now;
  }
  return count;
}

}  // namespace depfast
