#include "two_proposer_checker.h"

#include <memory>
#include <variant>

#include "two_proposer_log.h"

namespace depfast {

TwoProposerChecker::TwoProposerChecker(const sim::GroupView& group)
    : group_(group),
      applied_(static_cast<std::size_t>(group.replicas())),
      received_(applied_.size()) {
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
                                                const CommandDigest& command) const {
  if (index == 0 || index > AppliedUpTo(replica)) return "it has not applied that command";
  if (commands_[index - 1] != command) return "it has applied another command there";
  return index <= applied_.back() ? "" : "the sequencer has not applied that command";
}

void TwoProposerChecker::OnStep(PeerId replica, const sim::StepInput& input,
                                const sim::StepOutput& output) {
  for (const sim::FrameArrival& arrival : input.frames) OnReceived(replica, *arrival.bytes);
  for (const sim::Output& one : output.outputs) {
    const auto* seen = std::get_if<Observation>(&one);
    if (seen != nullptr && seen->kind == kTestApplyObservation) {
      OnApply(replica, seen->values[0], seen->values[1]);
    }
  }
}

void TwoProposerChecker::OnReceived(PeerId replica, std::string_view bytes) {
  std::string error;
  const auto frame = DecodeFrame(bytes, error);
  if (!frame || frame->header.kind != FrameKind::kRequest) return;
  std::set<CommandDigest>& received = received_[static_cast<std::size_t>(replica)];
  if (frame->header.method == Place::kMethod) {
    if (const auto place = DecodeBody<Place>(frame->body, error)) {
      received.insert(DigestOf(place->command));
    }
  } else if (frame->header.method == Learn::kMethod) {
    if (const auto learn = DecodeBody<Learn>(frame->body, error)) {
      received.insert(DigestOf(learn->command));
    }
  }
}

void TwoProposerChecker::OnApply(PeerId replica, std::uint64_t index, std::uint64_t hash) {
  std::uint64_t& applied = applied_[static_cast<std::size_t>(replica)];
  const bool in_order = index == applied + 1;
  const auto& received = received_[static_cast<std::size_t>(replica)];
  const auto has = [&](const CommandDigest& each) { return each.hash == hash; };
  if (index == commands_.size() + 1) {
    const auto first = std::ranges::find_if(received, has);
    if (first != received.end()) commands_.push_back(*first);
  }
  const bool agrees = index >= 1 && index <= commands_.size() && has(commands_[index - 1]) &&
                      received.contains(commands_[index - 1]);
  if (violation_.empty() && !(in_order && agrees)) {
    violation_ = "replica " + std::to_string(replica) + " applies another command at index " +
                 std::to_string(index);
  }
  applied = index;
}

Subject MakeTwoProposerSubject(sim::Simulator& simulator, testkit::History&,
                               const ClientLoad& load) {
  return SubmitSubject(std::make_unique<TwoProposerChecker>(simulator), simulator, load, 2);
}

}  // namespace depfast
