#include "copilot_checker.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include "depfast/host/frame.h"
#include "frame_bodies.h"
#include "journal.h"

namespace depfast::copilot {
namespace {

std::string Name(PeerId replica) { return "replica " + std::to_string(replica); }

std::string Name(const std::pair<Lane, EntryIndex>& id) {
  return (id.first == Lane::kPilot ? "P." : "Q.") + std::to_string(id.second);
}

// The parts of the lab, as lab.yaml names them. A violation is of the part whose rules it breaks.
constexpr const char* kFastPath = "5a";
constexpr const char* kSlowPath = "5b";
constexpr const char* kExecution = "5c";
constexpr const char* kTakeover = "5d";
constexpr const char* kNoPart = "";

std::string BallotName(Ballot ballot) {
  const View view = ViewOf(ballot);
  return std::to_string(view) + "." + std::to_string(ballot - FirstBallot(view));
}

// `dependency`: of a claim, so 0 stands for a no-op.
std::string DependencyName(std::uint64_t dependency) {
  return dependency == 0 ? "a no-op" : "dependency " + std::to_string(dependency - 1);
}

std::string Text(std::uint64_t dependency, std::uint64_t hash) {
  const std::string name = DependencyName(dependency);
  return dependency == 0 ? name : name + " and commands " + std::to_string(hash);
}

}  // namespace

const char* ToString(Invariant invariant) {
  switch (invariant) {
    case Invariant::kOneValue:
      return "one value";
    case Invariant::kChosen:
      return "chosen by a quorum";
    case Invariant::kDurable:
      return "durable before told";
    case Invariant::kTrueVotes:
      return "true votes";
    case Invariant::kDependencies:
      return "dependencies";
    case Invariant::kOrder:
      return "one order";
    case Invariant::kOnce:
      break;
  }
  return "once";
}

CopilotChecker::CopilotChecker(const sim::GroupView& group, testkit::History* history,
                               Machine machine)
    : Violations(history),
      group_(group),
      machine_(machine),
      quorums_(group.replicas()),
      replicas_(static_cast<std::size_t>(group.replicas())) {
  group.AddObserver(this);
}

CopilotChecker::Coverage& CopilotChecker::Coverage::operator+=(const Coverage& other) {
  fast += other.fast;
  accepted += other.accepted;
  by_takers += other.by_takers;
  no_ops += other.no_ops;
  views += other.views;
  restored += other.restored;
  return *this;
}

// ---- a test's view ----

std::vector<PeerId> CopilotChecker::Proposers() const {
  std::vector<PeerId> proposers;
  for (const Duty duty : {Duty::kPilot, Duty::kCopilot}) {
    for (PeerId id = 0; id < group_.replicas(); ++id) {
      if (Of(id).duty == duty && group_.IsUp(id)) proposers.push_back(id);
    }
  }
  return proposers;
}

std::string CopilotChecker::WhyNotCommitted(PeerId replica, std::uint64_t index,
                                            const CommandDigest& command) const {
  if (index == 0 || index > AppliedUpTo(replica)) return "it has not applied that command";
  // Commands are applied from entries that a quorum has chosen: OnRun and OnApply check that.
  if (applied_[index - 1].command != command) return "it has applied another command there";
  return "";
}

std::optional<CommandDigest> CopilotChecker::AppliedAt(std::uint64_t index) const {
  if (index == 0 || index > applied_.size()) return std::nullopt;
  return applied_[index - 1].command;
}

std::optional<std::string> CopilotChecker::ResultAt(std::uint64_t index) const {
  if (machine_ != Machine::kTally || index == 0 || index > applied_.size()) return std::nullopt;
  return applied_[index - 1].result;
}

std::size_t CopilotChecker::LogBytes(PeerId replica) const {
  const auto& files = group_.disk(replica).files();
  const auto journal = files.find(kJournalFile);
  return journal == files.end() ? 0 : journal->second.data.size();
}

bool CopilotChecker::HasSnapshot(PeerId replica) const {
  return group_.disk(replica).files().contains(kSnapshotFile);
}

std::string CopilotChecker::FirstViolation() const {
  const std::string part = first_part_;
  return First(/*of_safety=*/false, part.empty() ? "" : "the rules of part " + part);
}

void CopilotChecker::Violate(Invariant invariant, const char* part, const std::string& what) {
  if (violations().empty()) first_part_ = part;
  Violations::Violate(invariant, what);
}

// For people: all votes on an entry, as the frames have shown them.
void CopilotChecker::NoteVotes(EntryId id) {
  if (history_ == nullptr || violations().size() > 1) return;
  const auto note = [&](const std::string& at, const Vote& vote, bool own) {
    std::string by =
        " " + std::to_string(vote.proposer) + (own ? " (its own)" : " (its own, not on its disk)");
    for (PeerId replica = 0; replica < group_.replicas(); ++replica) {
      if ((vote.by & Bit(replica)) != 0) by += " " + std::to_string(replica);
    }
    Note(Name(id) + at + ": " + Text(vote.content.dependency, vote.content.commands.hash) +
         ", accepted by" + by);
  };
  for (const auto& [view, vote] : entries_[id].proposed) {
    const bool own = vote.proposer != kNobody &&
                     DiskOf(vote.proposer).HasRecord(id.first, id.second, FirstBallot(view));
    note(" in view " + std::to_string(view), vote, own);
  }
  for (const auto& [ballot, vote] : entries_[id].accepted) {
    const bool own =
        vote.proposer != kNobody && DiskOf(vote.proposer).HasAccepted(id.first, id.second, ballot);
    note(" at ballot " + BallotName(ballot), vote, own);
  }
}

// ---- frames ----

void CopilotChecker::OnStep(PeerId replica, const sim::StepInput& input,
                            const sim::StepOutput& output) {
  now_ = input.now;
  for (const sim::FrameArrival& arrival : input.frames) {
    std::string error;
    const auto frame = DecodeFrame(*arrival.bytes, error);
    if (!frame) continue;
    if (frame->header.kind == FrameKind::kRequest) OnRequest(replica, arrival.from, *frame);
    if (frame->header.kind == FrameKind::kReply) OnReply(replica, *frame);
  }
  for (const sim::Output& one : output.outputs) {
    if (const auto* seen = std::get_if<Observation>(&one)) OnObservation(replica, *seen);
  }
}

void CopilotChecker::OnRequest(PeerId replica, PeerId from, const DecodedFrame& frame) {
  const auto remember = [&](Asked asked) { Of(replica).asked[{from, frame.header.call}] = asked; };
  VisitBody<FastAccept>(frame, [&](const FastAccept& body) {
    Of(replica).held.insert(CommandsDigest(body.commands));
    remember({{body.lane, body.index}, FirstBallot(body.view), body.dependency});
  });
  VisitBody<Accept>(frame, [&](const Accept& body) {
    Of(replica).held.insert(CommandsDigest(body.commands));
    remember({{body.lane, body.index}, body.ballot, body.dependency});
  });
  VisitBody<Prepare>(
      frame, [&](const Prepare& body) { remember({{body.lane, body.index}, body.ballot, 0}); });
}

void CopilotChecker::OnReply(PeerId replica, const DecodedFrame& frame) {
  Replica& state = Of(replica);
  VisitBody<Prepare, PrepareReply>(
      frame, [&](const PrepareReply& reply) { state.held.insert(CommandsDigest(reply.commands)); });
  VisitBody<Learn, LearnReply>(frame, [&](const LearnReply& reply) {
    for (const Decided& each : reply.decisions) state.held.insert(CommandsDigest(each.commands));
  });
  VisitBody<FetchSnapshot, FetchSnapshotReply>(frame, [&](const FetchSnapshotReply& reply) {
    if (!(reply.id == state.snapshot)) state.snapshot_bytes = 0;
    state.snapshot = reply.id;
    state.snapshot_bytes += reply.data.size();
  });
}

void CopilotChecker::OnOutputsLeave(PeerId replica, Time now,
                                    const std::vector<sim::Output>& outputs) {
  now_ = now;
  for (const sim::Output& one : outputs) {
    const auto* frame = std::get_if<sim::SendFrame>(&one);
    if (frame == nullptr) continue;
    const testkit::History::FrameScope scope(history_, frame->bytes);
    OnSent(replica, *frame);
  }
}

void CopilotChecker::OnSent(PeerId replica, const sim::SendFrame& sent) {
  if (sent.to >= kFirstClient) return;
  std::string error;
  const auto frame = DecodeFrame(*sent.bytes, error);
  if (!frame) return;
  if (frame->header.kind == FrameKind::kRequest) {
    VisitBody<FastAccept>(*frame, [&](const auto& body) { OnSentFastAccept(replica, body); });
    VisitBody<Accept>(*frame, [&](const auto& body) { OnSentAccept(replica, body); });
    VisitBody<Prepare>(*frame, [&](const auto& body) { OnSentPrepare(replica, body); });
    return;
  }
  const auto asked = Of(replica).asked.extract({sent.to, frame->header.call});
  if (frame->header.kind == FrameKind::kReply && !asked.empty()) {
    OnSentReply(replica, asked.mapped(), *frame);
  }
}

void CopilotChecker::OnSentFastAccept(PeerId replica, const FastAccept& request) {
  const EntryId id{request.lane, request.index};
  const Content content{1 + request.dependency, CommandsDigest(request.commands)};
  entries_[id].commands.emplace(content.commands, request.commands);
  Of(replica).held.insert(content.commands);
  Propose(id, entries_[id].proposed[request.view], content, replica, kFastPath);
}

void CopilotChecker::OnSentAccept(PeerId replica, const Accept& request) {
  const EntryId id{request.lane, request.index};
  Content content;
  if (!request.no_op) {
    content = {1 + request.dependency, CommandsDigest(request.commands)};
    // A proposal may have reached nobody but a disk, where its taker has found it.
    entries_[id].commands.emplace(content.commands, request.commands);
    Of(replica).held.insert(content.commands);
  }
  Propose(id, entries_[id].accepted[request.ballot], content, replica,
          IsTakeover(request.ballot) ? kTakeover : kSlowPath);
}

// It goes to each peer.
void CopilotChecker::OnSentPrepare(PeerId replica, const Prepare& request) {
  const EntryId id{request.lane, request.index};
  if (std::exchange(entries_[id].asked_at, request.ballot) == request.ballot) return;
  Note(Name(replica) + " takes " + Name(id) + " over at ballot " + BallotName(request.ballot));
}

// One proposal at a ballot.
void CopilotChecker::Propose(EntryId id, Vote& vote, const Content& content, PeerId replica,
                             const char* part) {
  if (vote.proposer != kNobody && vote.content != content) {
    Violate(Invariant::kOneValue, part,
            Name(replica) + " proposes " + Name(id) + " twice at one ballot, with two values");
  }
  vote.content = content;
  vote.proposer = replica;
}

void CopilotChecker::OnSentReply(PeerId replica, const Asked& asked, const DecodedFrame& frame) {
  Entry& entry = entries_[asked.entry];
  const Lane lane = asked.entry.first;
  const EntryIndex index = asked.entry.second;
  const DurableRecords& disk = DiskOf(replica);
  const auto require = [&](bool is_on_disk, const char* what, const char* part) {
    if (is_on_disk) return;
    Violate(Invariant::kDurable, part,
            Name(replica) + " says that it has " + what + " " + Name(asked.entry) +
                " before its disk says so");
  };
  VisitBody<FastAccept, FastAcceptReply>(frame, [&](const FastAcceptReply& reply) {
    if (!reply.recorded) return;
    require(disk.HasRecord(lane, index, asked.ballot), "recorded", kFastPath);
    if (reply.dependency == asked.dependency) {
      entry.proposed[ViewOf(asked.ballot)].by |= Bit(replica);
    }
  });
  VisitBody<Accept, AcceptReply>(frame, [&](const AcceptReply& reply) {
    if (!reply.accepted) return;
    require(disk.HasAccepted(lane, index, asked.ballot), "accepted", kSlowPath);
    entry.accepted[asked.ballot].by |= Bit(replica);
  });
  VisitBody<Prepare, PrepareReply>(frame, [&](const PrepareReply& reply) {
    if (!reply.promised) return;
    require(disk.HasPromised(lane, index, asked.ballot), "promised", kSlowPath);
    CheckVoteTold(replica, asked.entry, reply.record);
  });
}

// A replica tells a taker of the vote that it was asked for.
void CopilotChecker::CheckVoteTold(PeerId replica, EntryId id, const Record& told) {
  const bool is_accepted = told.kind == Record::Kind::kAccepted;
  const bool is_proposed =
      told.kind == Record::Kind::kFastAccepted || told.kind == Record::Kind::kSuggested;
  const auto& votes = entries_[id];
  const Vote* asked = nullptr;
  if (is_accepted && votes.accepted.contains(told.ballot)) {
    asked = &votes.accepted.at(told.ballot);
  } else if (is_proposed && votes.proposed.contains(ViewOf(told.ballot))) {
    asked = &votes.proposed.at(ViewOf(told.ballot));
  }
  if (asked == nullptr || asked->proposer == kNobody) return;
  const EntryIndex dependency = is_accepted ? told.dependency : told.initial;
  const std::uint64_t says = is_accepted && told.no_op ? 0 : 1 + dependency;
  if (says == asked->content.dependency) return;
  Violate(Invariant::kTrueVotes, is_accepted ? kSlowPath : kFastPath,
          Name(replica) + " says that it has voted for " + Name(id) + " at ballot " +
              BallotName(told.ballot) + " with " + DependencyName(says) + ", and was asked with " +
              DependencyName(asked->content.dependency));
}

// ---- disks ----

const DurableRecords& CopilotChecker::DiskOf(PeerId replica) {
  DurableRecords& records = Of(replica).disk;
  try {
    records.Read(group_.disk(replica));
  } catch (const std::exception& error) {
    Violate(Invariant::kDurable, kNoPart, Name(replica) + ": " + error.what());
  }
  return records;
}

void CopilotChecker::OnDisk(PeerId replica, Time now, const sim::SimDisk&) {
  now_ = now;
  CountStored(replica);
}

void CopilotChecker::CountStored(PeerId replica) {
  const DurableRecords& disk = DiskOf(replica);
  std::uint64_t& stored = Of(replica).stored;
  for (; stored < applied_.size(); ++stored) {
    const auto [lane, index] = applied_[stored].entry;
    const auto& decided = entries_[{lane, index}].decided;
    if (!decided || !disk.HasCommands(lane, index, decided->commands)) return;
  }
}

// ---- claims ----

void CopilotChecker::OnRestart(PeerId replica, Time now) {
  now_ = now;
  Of(replica) = Replica();
}

void CopilotChecker::OnObservation(PeerId replica, const Observation& seen) {
  const auto& values = seen.values;
  const auto entry = [&] {
    return EntryId{values[0] == 0 ? Lane::kPilot : Lane::kCopilot, values[1]};
  };
  switch (seen.kind) {
    case kDutyObservation:
      OnDuty(replica, static_cast<Duty>(values[0]), values[1], values[2]);
      break;
    case kDecideObservation:
      OnDecide(replica, entry(), {values[2], {.hash = values[3]}});
      break;
    case kRunObservation:
      OnRun(replica, entry());
      break;
    case kApplyObservation:
      OnApply(replica, values[0], values[1], values[2]);
      break;
    case kRestoreObservation:
      OnRestore(replica, values[0], {values[1], values[2]});
      break;
    default:
      break;
  }
}

void CopilotChecker::OnDuty(PeerId replica, Duty duty, View pilot, View copilot) {
  constexpr const char* kDuties[] = {"a follower", "the pilot", "the copilot"};
  if (std::exchange(Of(replica).duty, duty) != duty) {
    Note(Name(replica) + " is " + kDuties[static_cast<int>(duty) % 3] + " (views " +
         std::to_string(pilot) + " and " + std::to_string(copilot) + ")");
  }
  coverage_.views = std::max(coverage_.views, pilot + copilot - 1);
}

void CopilotChecker::OnRestore(PeerId replica, std::uint64_t commands, const PerLane& ran) {
  Replica& state = Of(replica);
  const DurableRecords& disk = DiskOf(replica);
  const auto is_it = [&](const SnapshotId& id) { return id.commands == commands && id.ran == ran; };
  const bool has_all = is_it(state.snapshot) && state.snapshot_bytes >= state.snapshot.bytes;
  if (!has_all && !is_it(disk.snapshot()) && !disk.is_damaged()) {
    Violate(Invariant::kChosen, kNoPart,
            Name(replica) + " says that it restores a snapshot of " + std::to_string(commands) +
                " commands, and has neither received it nor has it on its disk");
  }
  state.commands = commands;
  state.ran = ran;
  ++state.restored;
  ++coverage_.restored;
}

std::optional<CopilotChecker::Content> CopilotChecker::Chosen(EntryId id, const Content& claim) {
  const auto& [lane, index] = id;
  const Entry& entry = entries_[id];
  const auto is_chosen = [&](const Vote& vote, int quorum, bool own_is_durable) {
    const std::uint64_t others = vote.by & ~Bit(vote.proposer);
    return vote.content.IsSaidBy(claim) && std::popcount(others) + own_is_durable >= quorum;
  };
  for (const auto& [view, vote] : entry.proposed) {
    if (vote.proposer == kNobody) continue;
    const bool own = DiskOf(vote.proposer).HasRecord(lane, index, FirstBallot(view));
    if (is_chosen(vote, quorums_.fast(), own)) return vote.content;
  }
  for (const auto& [ballot, vote] : entry.accepted) {
    if (vote.proposer == kNobody) continue;
    const bool own = DiskOf(vote.proposer).HasAccepted(lane, index, ballot);
    if (is_chosen(vote, quorums_.majority(), own)) return vote.content;
  }
  return std::nullopt;
}

void CopilotChecker::OnDecide(PeerId replica, EntryId id, const Content& claim) {
  Entry& entry = entries_[id];
  if (entry.decided) {
    if (entry.decided->IsSaidBy(claim)) return;
    Violate(Invariant::kOneValue, PartOf(entry),
            Name(replica) + " decides for " + Name(id) + " " +
                Text(claim.dependency, claim.commands.hash) + ", a replica before it " +
                Text(entry.decided->dependency, entry.decided->commands.hash));
    NoteVotes(id);
    return;
  }
  const auto chosen = Chosen(id, claim);
  const Content content = entry.decided.emplace(chosen.value_or(claim));
  if (!chosen) {
    Violate(Invariant::kChosen, PartOf(entry),
            Name(replica) + " takes " + Name(id) + " for decided, and no quorum has chosen that");
    NoteVotes(id);
  }
  CheckDependenciesOf(id, content);
  const char* const part = PartOf(entry);
  const bool by_taker = part == kTakeover;
  const bool is_fast = part == kFastPath;
  Note(Name(id) + " is decided with " + DependencyName(content.dependency) +
       (by_taker  ? ", by a takeover"
        : is_fast ? ", on the fast path"
                  : ", on the slow path"));
  if (content.is_no_op()) {
    ++coverage_.no_ops;
  } else {
    ++(is_fast ? coverage_.fast : coverage_.accepted);
    coverage_.by_takers += by_taker ? 1 : 0;
  }
}

const char* CopilotChecker::PartOf(const Entry& entry) {
  const auto by_taker = [](const auto& each) { return IsTakeover(each.first); };
  if (std::ranges::any_of(entry.accepted, by_taker)) return kTakeover;
  return entry.accepted.empty() ? kFastPath : kSlowPath;
}

void CopilotChecker::CheckDependenciesOf(EntryId id, const Content& content) {
  if (content.is_no_op()) return;
  const auto [lane, index] = id;
  for (auto other = entries_.upper_bound({Other(lane), content.dependency - 1});
       other != entries_.end() && other->first.first == Other(lane); ++other) {
    const auto& decided = other->second.decided;
    if (!decided || decided->is_no_op() || decided->dependency - 1 >= index) continue;
    // Either may be wrong: the later part counts.
    const char* const part = std::max(PartOf(entries_[id]), PartOf(other->second),
                                      [](auto* a, auto* b) { return std::string_view(a) < b; });
    Violate(Invariant::kDependencies, part,
            Name(id) + " is decided with dependency " + std::to_string(content.dependency - 1) +
                ", " + Name(other->first) + " with dependency " +
                std::to_string(decided->dependency - 1) + ": neither depends on the other");
    NoteVotes(id);
    NoteVotes(other->first);
    return;
  }
}

void CopilotChecker::OnRun(PeerId replica, EntryId id) {
  Replica& state = Of(replica);
  state.runs = id;
  EntryIndex& ran = At(state.ran, id.first);
  if (id.second != ran + 1) {
    Violate(Invariant::kOrder, kExecution, Name(replica) + " runs " + Name(id) + " out of turn");
  }
  ran = id.second;
  const auto& decided = entries_[id].decided;
  if (!decided) {
    Violate(Invariant::kChosen, kExecution,
            Name(replica) + " runs " + Name(id) + ", which is not decided");
  } else if (!Holds(replica, id, *decided)) {
    Violate(Invariant::kChosen, kExecution,
            Name(replica) + " says that it runs " + Name(id) +
                ", and has neither received its commands nor has them on its "
                "disk");
  }
}

bool CopilotChecker::Holds(PeerId replica, EntryId id, const Content& content) {
  const bool is_empty = content.commands.bytes == 0;
  if (is_empty || Of(replica).held.contains(content.commands)) return true;
  const DurableRecords& disk = DiskOf(replica);
  return disk.HasCommands(id.first, id.second, content.commands) || disk.is_damaged();
}

void CopilotChecker::OnApply(PeerId replica, std::uint64_t number, std::uint64_t name,
                             std::uint64_t hash) {
  Replica& state = Of(replica);
  const Entry& entry = entries_[state.runs];
  const auto commands =
      entry.decided ? entry.commands.find(entry.decided->commands) : entry.commands.end();
  CommandDigest command{.hash = hash};
  bool is_there = false;
  if (commands != entry.commands.end()) {
    const auto found = std::ranges::find_if(commands->second, [&](const Command& each) {
      return each.name == name && CommandHash(each.text) == hash;
    });
    is_there = found != commands->second.end();
    if (is_there) command = DigestOf(found->text);
  }
  if (!is_there) {
    Violate(Invariant::kChosen, kExecution,
            Name(replica) + " applies a command that is not in " + Name(state.runs) +
                ", which it runs");
    NoteVotes(state.runs);
  }
  const bool in_turn = number == state.commands + 1 && number <= applied_.size() + 1;
  state.commands = number;
  if (!in_turn) {
    Violate(Invariant::kOrder, kExecution, Name(replica) + " applies a command out of turn");
  } else if (number <= applied_.size()) {
    const Applied& first = applied_[number - 1];
    if (first.name == name && first.command == command) return CountStored(replica);
    Violate(Invariant::kOrder, kExecution,
            Name(replica) + " applies a command of " + Name(state.runs) + " as number " +
                std::to_string(number) + ", which was another one of " + Name(first.entry) +
                " at " + Name(first.replica));
  } else {
    if (!applied_names_.insert(name).second) {
      Violate(Invariant::kOnce, kExecution,
              Name(replica) + " applies a command that has been applied");
    }
    tally_.ApplyHash(hash);
    applied_commands_.insert(command);
    applied_.push_back({name, command, std::to_string(tally_.count()), state.runs, replica});
    CountStored(replica);
  }
}

}  // namespace depfast::copilot
