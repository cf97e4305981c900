#include "leader_log_checker.h"

#include <algorithm>

namespace depfast {

LeaderLogChecker::LeaderLogChecker(const sim::GroupView& group, Machine machine, Files files,
                                   const LeaderContacts::TermOf& term_of)
    : group_(group), machine_(machine), files_(files) {
  if (machine == Machine::kOther) contacts_.emplace(group, term_of);
}

void LeaderLogChecker::AddCommitted(std::uint64_t term, const CommandDigest& command,
                                    std::uint64_t by_term) {
  committed_.push_back({term, command, by_term, committed_.back().state});
  if (command.bytes == 0) return;
  committed_.back().state.ApplyHash(command.hash);
  ++times_committed_[command];
}

PeerId LeaderLogChecker::Leader() const {
  PeerId leader = kNobody;
  for (PeerId id = 0; id < group_.replicas(); ++id) {
    const auto term = group_.IsUp(id) ? LeadsTerm(id) : std::nullopt;
    if (term && (leader == kNobody || term > LeadsTerm(leader))) leader = id;
  }
  return leader;
}

std::vector<PeerId> LeaderLogChecker::Proposers() const {
  const PeerId leader = Leader();
  return leader == kNobody ? std::vector<PeerId>() : std::vector<PeerId>{leader};
}

std::uint64_t LeaderLogChecker::TimesApplied(const CommandDigest& command) const {
  const auto found = times_committed_.find(command);
  return found == times_committed_.end() ? 0 : found->second;
}

// Ongaro's thesis, section 6.4: an entry of the leader's own term is committed, and a majority has
// answered messages that the leader sent after the read came.
std::string LeaderLogChecker::WhyMayNotRead(PeerId replica, Time since) const {
  if (!contacts_) return "";
  const std::uint64_t term = contacts_->term(replica);
  if (term == 0) return "it has led no term since it started";
  const std::uint64_t last = std::min(AppliedUpTo(replica), committed_.size() - 1);
  if (committed_[last].term < term) {
    return "it has applied no entry of its term " + std::to_string(term);
  }
  const std::size_t with_itself = 1 + contacts_->AnsweredSince(replica, since);
  const auto replicas = static_cast<std::size_t>(group_.replicas());
  if (with_itself > replicas / 2) return "";
  return "only " + std::to_string(with_itself - 1) + " of " + std::to_string(replicas - 1) +
         " other replicas have answered a message of its term that it sent after the read came";
}

std::optional<CommandDigest> LeaderLogChecker::AppliedAt(std::uint64_t index) const {
  if (index == 0 || index >= committed_.size()) return std::nullopt;
  return committed_[index].command;
}

std::optional<std::string> LeaderLogChecker::ResultAt(std::uint64_t index) const {
  if (machine_ != Machine::kTally || index >= committed_.size()) return std::nullopt;
  return std::to_string(committed_[index].state.count());
}

const std::string* LeaderLogChecker::BytesOf(PeerId replica, const char* file) const {
  const auto& files = group_.disk(replica).files();
  const auto found = files.find(file);
  return found == files.end() ? nullptr : &found->second.data;
}

std::size_t LeaderLogChecker::LogBytes(PeerId replica) const {
  const std::string* const log = BytesOf(replica, files_.log);
  return log == nullptr ? 0 : log->size();
}

const std::string* LeaderLogChecker::SnapshotBytes(PeerId replica) const {
  return BytesOf(replica, files_.snapshot);
}

}  // namespace depfast
