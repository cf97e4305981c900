#include "two_proposer_checker.h"

#include <memory>
#include <variant>

#include "two_proposer_log.h"

namespace depfast {

TwoProposerChecker::TwoProposerChecker(const sim::GroupView& group)
    : group_(group), applied_(static_cast<std::size_t>(group.replicas())) {
  group.AddObserver(this);
}

std::vector<PeerId> TwoProposerChecker::Proposers() const {
  std::vector<PeerId> proposers;
  for (const PeerId id : {kFirstProposer, kSecondProposer}) {
    if (group_.IsUp(id)) proposers.push_back(id);
  }
  return proposers;
}

std::uint64_t TwoProposerChecker::AppliedUpTo(PeerId replica) const {
  return applied_[static_cast<std::size_t>(replica)];
}

std::string TwoProposerChecker::WhyNotCommitted(PeerId replica, std::uint64_t index,
                                                std::uint64_t command_hash) const {
  if (index == 0 || index > AppliedUpTo(replica)) return "it has not applied that command";
  if (hashes_[index - 1] != command_hash) return "it has applied another command there";
  return index <= applied_.back() ? "" : "the sequencer has not applied that command";
}

void TwoProposerChecker::OnStep(PeerId replica, const sim::StepInput&,
                                const sim::StepOutput& output) {
  for (const sim::Output& one : output.outputs) {
    const auto* seen = std::get_if<Observation>(&one);
    if (seen != nullptr && seen->kind == kTestApplyObservation) {
      OnApply(replica, seen->values[0], seen->values[1]);
    }
  }
}

void TwoProposerChecker::OnApply(PeerId replica, std::uint64_t index, std::uint64_t hash) {
  std::uint64_t& applied = applied_[static_cast<std::size_t>(replica)];
  const bool in_order = index == applied + 1;
  if (index == hashes_.size() + 1) hashes_.push_back(hash);
  const bool agrees = index >= 1 && index <= hashes_.size() && hashes_[index - 1] == hash;
  if (violation_.empty() && !(in_order && agrees)) {
    violation_ = "replica " + std::to_string(replica) + " applies another command at index " +
                 std::to_string(index);
  }
  applied = index;
}

Subject MakeTwoProposerSubject(sim::Simulator& simulator, testkit::History&,
                               Duration answer_timeout) {
  return SubmitSubject(std::make_unique<TwoProposerChecker>(simulator), simulator,
                       {.answer_timeout = answer_timeout, .targets = 2});
}

}  // namespace depfast
