#include "copilot_base.h"

#include <algorithm>

#include "copilot_observations.h"

namespace depfast::copilot {
namespace {

// The most commands that run in one step of the replica, beside the rest of their entry.
constexpr int kCommandsPerStep = 4;

}  // namespace

CopilotBase::CopilotBase(Runtime& runtime, StateMachine& machine, Durability durability)
    : runtime_(runtime),
      machine_(machine),
      quorums_(runtime.replicas()),
      lanes_(runtime, durability, *this),
      pilots_(runtime, lanes_, *this),
      batches_(runtime, pilots_, lanes_, *this),
      catch_up_(runtime, machine, lanes_) {}

// ---- start ----

void CopilotBase::Start() {
  runtime_.Spawn("start", [this] {
    Recovered recovered = journal().Recover();
    if (recovered.snapshot) catch_up_.Restore(*recovered.snapshot);
    lanes_.Recover(std::move(recovered.lanes));
    RegisterHandlers();
    pilots_.Start(recovered);
    RememberReserved(recovered);
    if (const auto lane = OwnLane()) batches_.Start(*lane, 0);
    runtime_.set_dependency({});  // no client's
    RunEntries();
  });
}

// Entries that this replica may have proposed and forgotten. It knows nothing of them, as if it had
// promised them to a taker.
void CopilotBase::RememberReserved(const Recovered& recovered) {
  for (const Lane lane : kLanes) {
    LaneLog& log = Log(lane);
    for (EntryIndex index = log.base() + 1; index <= At(recovered.reserved, lane); ++index) {
      if (!log.RecordOf(index).is_known()) log.Set(index, {.promised = NextBallot(lane, index)});
    }
  }
}

void CopilotBase::RegisterHandlers() {
  Rpc& rpc = runtime_.rpc();
  rpc.HandleInline<FastAccept>([this](const auto& request, const auto& responder) {
    const auto dependency = RecordProposal(request);
    if (dependency && pilots_.Has(Other(request.lane))) {
      batches_.OnOtherPilotsTurn(request.dependency);
    }
    const FastAcceptReply reply{pilots_.view(request.lane), dependency.has_value(),
                                dependency.value_or(0)};
    journal().WhenDurable([responder, reply] { responder.Send(reply); });
  });
  rpc.HandleInline<Accept>([this](const auto& request, const auto& responder) {
    const bool accepted = RecordAccept(request) || IsDecidedAs(request);
    const AcceptReply reply{accepted, PromisedOf(request.lane, request.index)};
    journal().WhenDurable([responder, reply] { responder.Send(reply); });
  });
  rpc.HandleInline<Prepare>([this](const auto& request, const auto& responder) {
    const PrepareReply reply = Promise(request);
    journal().WhenDurable([responder, reply] { responder.Send(reply); });
  });
  rpc.HandleInline<Commit>([this](const auto& request, const auto& responder) {
    const bool known = lanes_.Decide(request);
    if (!known) Lacks(request.lane, request.index, responder.peer());
    responder.Send({known});
  });
  catch_up_.Serve();
}

std::optional<Lane> CopilotBase::OwnLane() const {
  for (const Lane lane : kLanes) {
    if (pilots_.Has(lane)) return lane;
  }
  return std::nullopt;
}

std::vector<PeerId> CopilotBase::proposers() const {
  return {pilots_.owner(Lane::kPilot), pilots_.owner(Lane::kCopilot)};
}

// ---- clients ----

void CopilotBase::Submit(std::string command, const Dependency& client, SubmitDone done) {
  if (!OwnLane() || command.empty()) {
    // The pilots in turn: a client that asks twice knows both.
    const Lane lane = ++refusals_ % 2 == 0 ? Lane::kPilot : Lane::kCopilot;
    done({SubmitStatus::kNotProposer, pilots_.owner(lane), 0, ""});
    return;
  }
  const std::uint64_t name = client.kind == Dependency::Kind::kClient ? client.id : NewName();
  Enqueue({name, std::move(command)}, client,
          [this, done = std::move(done)](SubmitStatus status, const CommandMemory::Result& result) {
            done({status, runtime_.self(), result.number, result.text});
          });
}

void CopilotBase::ReadIndex(const Dependency& client, ReadDone done) {
  if (!OwnLane()) return done(false);
  Enqueue({NewName(), ""}, client,
          [done = std::move(done)](SubmitStatus status, const CommandMemory::Result&) {
            done(status == SubmitStatus::kCommitted);
          });
}

// A name that no client and no other replica uses, nor this one before its last crash.
std::uint64_t CopilotBase::NewName() {
  constexpr std::uint64_t kLastClient = (std::uint64_t{1} << (64 - kRequestBits)) - 1;
  const auto now = static_cast<std::uint64_t>(runtime_.Now() / 1us);
  unnamed_ = std::max(unnamed_ + 1, now);
  return (kLastClient - static_cast<std::uint64_t>(runtime_.self())) << kRequestBits | unnamed_;
}

void CopilotBase::Enqueue(Command command, const Dependency& client, Batches::Done done) {
  if (const auto result = lanes_.progress().memory.Find(command.name)) {
    done(result->number > 0 ? SubmitStatus::kCommitted : SubmitStatus::kUnknown, *result);
    return;
  }
  batches_.Add(std::move(command), client, std::move(done));
}

// ---- rounds and votes ----

void CopilotBase::Order(const FastAccept& proposal) {
  const auto is_decided = [&] { return Log(proposal.lane).IsDecided(proposal.index); };
  Propose(proposal);
  // Another replica may have taken the entry over, or a majority is missing.
  if (!is_decided()) Log(proposal.lane).Decided(proposal.index)->Wait(TakeoverPatience());
  if (!is_decided()) TakeOver(proposal.lane, proposal.index);
}

// An entry on the slow path takes two rounds. If it were taken over earlier, its pilot would be
// refused, and pilots that are both in time could hinder each other for as long as clients send.
Duration CopilotBase::TakeoverPatience() const { return 2 * (round_time_ + 4 * deviation_); }

// The estimate of RFC 6298, for the time until a retransmission.
void CopilotBase::NoteRound(Duration took) {
  deviation_ += (std::chrono::abs(took - round_time_) - deviation_) / 4;
  round_time_ += (took - round_time_) / 8;
}

// Without the other pilot's vote nobody else could tell whether the entry was committed, if we
// crashed. Then our disk must: it says that we have accepted the value, and takers keep it.
void CopilotBase::DecideFast(Lane lane, EntryIndex index, const Decided& decided,
                             bool witness_accepted) {
  if (!witness_accepted) {
    const Ballot ballot = FirstBallot(decided.origin);
    if (!RecordAccept({lane, ballot, index, false, decided.initial, decided.value.dependency,
                       decided.origin, decided.commands})) {
      return;
    }
    const auto durable = std::make_shared<IntEvent>("durable", 1);
    journal().WhenDurable([durable] { durable->Set(1); });
    durable->Wait();
    if (!pilots_.Has(lane) || PromisedOf(lane, index) != ballot) return;  // it is a taker's now
  }
  DecideAndTell(lane, index, decided);
}

void CopilotBase::NoteRefusal(Lane lane, EntryIndex index, Ballot promised) {
  pilots_.Know(lane, ViewOf(promised));
  if (index <= Log(lane).base()) return;
  Ballot& refused = Log(lane).BodyOf(index).refused;
  refused = std::max(refused, promised);
}

Ballot CopilotBase::PromisedOf(Lane lane, EntryIndex index) const {
  const Ballot of_view = FirstBallot(pilots_.view(lane));
  if (index <= Log(lane).base()) return of_view;
  return std::max(of_view, Log(lane).RecordOf(index).promised);
}

// A taker whose links are late asks for what is decided, and may need this vote. A refusal would
// leave it waiting for others.
bool CopilotBase::IsDecidedAs(const Accept& request) {
  LaneLog& log = Log(request.lane);
  if (request.index <= log.base() || !log.IsDecided(request.index)) return false;
  const Record record = log.RecordOf(request.index);
  if (request.no_op || record.no_op) return request.no_op && record.no_op;
  return request.dependency == record.dependency &&
         request.origin == log.BodyOf(request.index).origin;
}

// ---- execution ----

const Commands& CopilotBase::BeginEntry(Lane lane) {
  static const Commands kNoCommands;
  const EntryIndex index = ++At(lanes_.progress().entries, lane);
  runtime_.Observe({kRunObservation, {static_cast<std::uint64_t>(lane), index}});
  return Log(lane).RecordOf(index).no_op ? kNoCommands : Log(lane).BodyOf(index).commands;
}

void CopilotBase::EndEntry() {
  catch_up_.CompactIfLarge();
  // Messages of others must not wait for a long backlog.
  if (commands_in_step_ < kCommandsPerStep) return;
  runtime_.Sleep(1ns);
  commands_in_step_ = 0;
}

void CopilotBase::Apply(const Command& command) {
  const std::uint64_t number = ++lanes_.progress().commands;
  ++commands_in_step_;
  runtime_.Observe({kApplyObservation, {number, command.name, CommandHash(command.text)}});
  const CommandMemory::Result result{0, number, machine_.Apply(number, command.text)};
  lanes_.progress().memory.Remember(command.name, number, result.text);
  Answer(command.name, SubmitStatus::kCommitted, result);
}

// ---- takeover ----

void CopilotBase::StartTakeover(Lane lane, EntryIndex index) {
  if (Log(lane).IsDecided(index) || Log(lane).BodyOf(index).taken_over) return;
  runtime_.Spawn("takeover", [this, lane, index] { TakeOver(lane, index); });
}

void CopilotBase::TakeOver(Lane lane, EntryIndex index) {
  if (Log(lane).IsDecided(index) || std::exchange(Log(lane).BodyOf(index).taken_over, true)) return;
  const auto is_open = [&] { return !Log(lane).IsDecided(index) && pilots_.HasAny(); };
  for (bool again = false; is_open() && !TryTakeover(lane, index); again = true) {
    // Two takers of one entry must not stop each other for ever. But the first refusal tells only
    // which ballot it takes.
    const Duration patience = TakeoverPatience();
    if (again) runtime_.Sleep(runtime_.RandomBetween(patience / 2, 2 * patience));
  }
  if (index > Log(lane).base()) Log(lane).BodyOf(index).taken_over = false;
}

// The next ballot that is ours alone, above all that we know of.
Ballot CopilotBase::NextBallot(Lane lane, EntryIndex index) {
  const auto replicas = static_cast<Ballot>(runtime_.replicas());
  const Ballot first = FirstBallot(pilots_.view(lane));
  const Ballot above =
      std::max({first, Log(lane).RecordOf(index).promised, Log(lane).BodyOf(index).refused});
  const Ballot turn = (above - first) / replicas + 1;
  return first + turn * replicas + static_cast<Ballot>(runtime_.self());
}

// ---- pilots ----

// A taker has given up what this pilot proposed: it proposes that again.
void CopilotBase::OnNoOp(Lane lane, const Commands& commands) {
  if (pilots_.Has(lane)) batches_.AddAgain(commands);
}

void CopilotBase::OnElected(Lane lane, EntryIndex latest) {
  for (EntryIndex index = Log(lane).decided() + 1; index <= latest; ++index) {
    StartTakeover(lane, index);
  }
  batches_.Start(lane, latest);
}

void CopilotBase::OnHeartbeat(PeerId from, const PerLane& decided, const PerLane& ran_everywhere) {
  for (const Lane lane : kLanes) {
    if (At(decided, lane) > Log(lane).decided()) Lacks(lane, At(decided, lane), from);
  }
  catch_up_.Truncate(ran_everywhere);
}

}  // namespace depfast::copilot
