// LeaderLogChecker: the common part of the checkers of logs that have one leader a term, as Raft's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "leader_contacts.h"
#include "log_checker.h"
#include "sim/group_view.h"
#include "tally.h"

namespace depfast {

class LeaderLogChecker : public LogChecker {
 public:
  // The state machine of the replicas. Of a tally, the checker knows the state after each entry.
  enum class Machine { kTally, kOther };

  // The replica with the highest term of those that are up and claim to lead; kNobody if there is
  // none.
  PeerId Leader() const;
  // The number of entries with this command that were committed; no-ops do not count.
  std::uint64_t TimesApplied(const CommandDigest& command) const;

  // See LogChecker.
  std::vector<PeerId> Proposers() const override;
  std::string WhyMayNotRead(PeerId replica, Time since) const override;
  bool NumbersEntries() const override { return true; }
  std::optional<CommandDigest> AppliedAt(std::uint64_t index) const override;
  std::optional<std::string> ResultAt(std::uint64_t index) const override;
  bool HasApplied(const CommandDigest& command) const override { return TimesApplied(command) > 0; }
  std::size_t LogBytes(PeerId replica) const override;
  bool HasSnapshot(PeerId replica) const override { return SnapshotBytes(replica) != nullptr; }

 protected:
  // The names of a replica's files.
  struct Files {
    const char* log;
    const char* snapshot;
  };
  struct Committed {
    std::uint64_t term = 0;
    CommandDigest command;
    std::uint64_t by_term = 0;  // the entry was committed in this term or an earlier one
    Tally state;                // after this entry
  };
  LeaderLogChecker(const sim::GroupView& group, Machine machine, Files files,
                   const LeaderContacts::TermOf& term_of);

  // The term that the replica claims to lead; nothing if it does not.
  virtual std::optional<std::uint64_t> LeadsTerm(PeerId replica) const = 0;

  // The file; null without one.
  const std::string* SnapshotBytes(PeerId replica) const;
  // The next entry is committed.
  void AddCommitted(std::uint64_t term, const CommandDigest& command, std::uint64_t by_term);
  // By index; entry 0 stands before the first.
  const std::vector<Committed>& committed() const { return committed_; }

  const sim::GroupView group_;
  const Machine machine_;

 private:
  const std::string* BytesOf(PeerId replica, const char* file) const;

  const Files files_;
  std::optional<LeaderContacts> contacts_;  // a tally takes no reads
  std::vector<Committed> committed_{1};
  std::map<CommandDigest, std::uint64_t> times_committed_;
};

}  // namespace depfast
