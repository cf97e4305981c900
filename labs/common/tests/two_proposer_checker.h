// TwoProposerChecker: a test's view of a TwoProposerLog. Checks that all replicas apply the same
// commands in the same order, and only those that they have received.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "log_checker.h"
#include "sim/group_view.h"
#include "subject.h"

namespace depfast {

class TwoProposerChecker final : public LogChecker, public sim::Observer {
 public:
  // Watches `group` from now on, which must outlive the checker.
  explicit TwoProposerChecker(const sim::GroupView& group);

  // See LogChecker.
  std::vector<PeerId> Proposers() const override;
  bool HasSeveralProposers() const override { return true; }
  std::uint64_t AppliedUpTo(PeerId replica) const override;
  std::uint64_t CommittedUpTo() const override { return commands_.size(); }
  // Nothing is on disks: what the sequencer has applied is committed.
  std::string WhyNotCommitted(PeerId replica, std::uint64_t index,
                              const CommandDigest& command) const override;
  bool HasApplied(const CommandDigest& command) const override {
    return std::find(commands_.begin(), commands_.end(), command) != commands_.end();
  }
  std::uint64_t Restored(PeerId) const override { return 0; }
  std::size_t LogBytes(PeerId) const override { return 0; }
  bool HasSnapshot(PeerId) const override { return false; }
  std::string FirstViolation() const override { return violation_; }

 private:
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnReceived(PeerId replica, std::string_view bytes);
  void OnApply(PeerId replica, std::uint64_t index, std::uint64_t hash);

  const sim::GroupView group_;
  std::vector<std::uint64_t> applied_;             // by replica
  std::vector<std::set<CommandDigest>> received_;  // by replica
  std::vector<CommandDigest> commands_;            // index 1 is the first
  std::string violation_;
};

// See MakeSubject. The client sends each command to both proposers.
Subject MakeTwoProposerSubject(sim::Simulator& simulator, testkit::History& history,
                               const ClientLoad& load);

}  // namespace depfast
