// SaucrWorld: the world of every SAUCR test: a cluster, the checker of SAUCR's invariants, a
// client.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "saucr_checker.h"
#include "submit_world.h"
#include "testkit/client.h"

namespace depfast::saucr {

class SaucrWorld : public SubmitWorld {
 public:
  using Parts = SaucrChecker::Parts;

  // Starts the replicas. Tests of part 6A take Parts::k6A.
  explicit SaucrWorld(const testkit::ClusterOptions& options, Parts parts = Parts::kAll);
  // Fails the test unless AllInvariantsHold, or the test has looked.
  ~SaucrWorld();

  // Runs until the leader serves, in this mode. Returns whether that is so within `at_most`.
  testing::AssertionResult WaitForMode(Mode mode, Duration at_most = 3s);
  // SubmitWorld's. A failure names the rules of the mode.
  testing::AssertionResult Commit(int count, Duration at_most = 3s,
                                  std::size_t bytes = kCommandBytes);
  // In fast mode, `count` commands are committed and applied by all.
  testing::AssertionResult BeginFast(int count);
  // Two followers die at once. The leader serves in slow mode.
  testing::AssertionResult LeaveABareMajority();
  // Once all faults are over, five commands are.
  testing::AssertionResult ServesAgain();
  PeerId Leader() const { return checker.Leader(); }
  // The replicas that are up, but for the leader, ascending.
  std::vector<PeerId> Followers() const;

  // Runs until markers of fast mode are on the disks, and the background flush has just been. For
  // the next 80 ms no replica has a reason to write an entry to its disk.
  testing::AssertionResult BeginInMemory();

  // The reply of a replica; nothing, and no failure, if there is none within 300 ms.
  template <typename Request>
  std::optional<typename Request::Reply> Ask(PeerId replica, const Request& request) {
    struct Answered {
      std::optional<typename Request::Reply> reply;
      bool is_over = false;
    };
    const auto answered = std::make_shared<Answered>();
    asker.Call(replica, request, 300ms,
               [answered](const auto& reply) { *answered = {reply, true}; });
    cluster.RunUntil([&] { return answered->is_over; }, 400ms);
    return answered->reply;
  }

  // The last entry that is committed.
  EntryId LastCommitted() const;
  // Whether this replica's disk has the entry, and whether a crash would lose nothing by its
  // markers.
  bool HasOnDisk(PeerId replica, EntryId entry) const { return checker.disk(replica).Has(entry); }
  bool SaysAllIsThere(PeerId replica) const { return checker.disk(replica).SaysAllIsThere(); }
  // Since its start it has lost entries, and has learned its LLE.
  bool HasRecovered(PeerId replica) const {
    return checker.claims(replica).recovery == Recovery::kRecovered;
  }

  // See SubmitWorld.
  testing::AssertionResult AllInvariantsHold() const;

  SaucrChecker& checker;
  testkit::Client asker;  // sends messages on behalf of replicas

 private:
  mutable bool was_asked_ = false;  // AllInvariantsHold
};

}  // namespace depfast::saucr
