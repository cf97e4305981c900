#include "copilot_base.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "depfast/compound_event.h"

namespace depfast::copilot {
namespace {

// The most rounds under way, and the most commands in one.
constexpr int kRoundsMax = 4;
constexpr std::size_t kBatchBytesMax = std::size_t{256} << 10;
constexpr EntryIndex kReserved = 256;

// So many commands run in one step of the replica, and the rest of their entry. And so many
// entries, whose commands have run by the other lane.
constexpr int kCommandsPerStep = 4;
constexpr int kEntriesPerStep = 16;

// A peer with more bytes than this in our queue gets no more of them, and learns later. What a peer
// has not taken after kStragglerGrace is dropped.
constexpr std::size_t kHeldBytesMax = std::size_t{256} << 10;
constexpr Duration kStragglerGrace = 100ms;

// Bounds of the timeouts that adapt to the time of a round.
constexpr Duration kFirstRoundTime = 2ms;
constexpr Duration kFastPatienceMin = 1ms;
constexpr Duration kTakeoverPatienceMin = 2ms;
constexpr Duration kTakeoverPatienceMax = 100ms;
constexpr int kSettleAfter = 4;  // times the patience for a takeover that somebody waits for
constexpr Duration kRoundPatienceMin = 50ms;
constexpr Duration kRoundPatienceMax = 4s;
constexpr Duration kBatchPatienceMax = 20ms;
constexpr int kTurnsMissedMax = 1;

// The other pilot's proposal comes after about one round trip.
Duration BatchPatienceFor(const LatencyEstimate& round_time) {
  return std::min(2 * round_time.Usual(), kBatchPatienceMax);
}

}  // namespace

CopilotBase::CopilotBase(Runtime& runtime, StateMachine& machine, Durability durability)
    : runtime_(runtime),
      machine_(machine),
      quorums_(runtime.replicas()),
      journal_(runtime, durability),
      pilots_(runtime, journal_, *this),
      news_(std::make_shared<ValueEvent<bool>>("news", false, std::identity())),
      seen_(static_cast<std::size_t>(runtime.replicas())),
      has_pending_(std::make_shared<ValueEvent<bool>>("commands", false, std::identity())),
      our_turn_(std::make_shared<ValueEvent<bool>>("turn", true, std::identity())),
      round_ended_(std::make_shared<ValueEvent<bool>>("round", true, std::identity())),
      may_propose_(std::make_shared<ValueEvent<bool>>("reserve", false, std::identity())),
      round_time_(kFirstRoundTime),
      their_time_(kFirstRoundTime) {}

// ---- start ----

void CopilotBase::Start() {
  runtime_.Spawn("start", [this] {
    Recover();
    runtime_.set_dependency({});  // no client's
    RunEntries();
  });
}

void CopilotBase::Recover() {
  Recovered recovered = journal_.Recover();
  logs_ = std::move(recovered.lanes);
  if (recovered.snapshot) Restore(*recovered.snapshot);
  for (const Lane lane : kLanes) {
    for (EntryIndex index = Log(lane).base() + 1; index <= Log(lane).last(); ++index) {
      const Record record = Log(lane).RecordOf(index);
      if (record.kind == Record::Kind::kCommitted) NoteDecision(lane, index);
    }
  }
  LetRunLater();
  RegisterHandlers();
  pilots_.Start(recovered);
  RememberReserved(recovered);
  DrawCompaction();
  if (const auto lane = OwnLane()) StartProposing(*lane, 0);
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
  rpc.HandleInline<FastAccept>(
      [this](const auto& request, const auto& responder) { OnFastAccept(request, responder); });
  rpc.HandleInline<Accept>(
      [this](const auto& request, const auto& responder) { OnAccept(request, responder); });
  rpc.HandleInline<Commit>(
      [this](const auto& request, const auto& responder) { OnCommit(request, responder); });
  rpc.HandleInline<Prepare>([this](const auto& request, const auto& responder) {
    const PrepareReply reply = Promise(request);
    journal_.WhenDurable([responder, reply] { responder.Send(reply); });
  });
  rpc.HandleInline<Learn>([this](const auto& request, const auto& responder) {
    responder.Send(DecisionsFrom(request.lane, request.first));
  });
  rpc.HandleInline<FetchSnapshot>([this](const auto& request, const auto& responder) {
    responder.Send(PartOfSnapshot(request));
  });
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
  Enqueue({{name, std::move(command)}, client},
          [this, done = std::move(done)](SubmitStatus status, const CommandMemory::Result& result) {
            done({status, runtime_.self(), result.number, result.text});
          });
}

void CopilotBase::ReadIndex(const Dependency& client, ReadDone done) {
  if (!OwnLane()) {
    done(false);
    return;
  }
  Enqueue({{NewName(), ""}, client},
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

void CopilotBase::Enqueue(Pending pending, Done done) {
  const std::uint64_t name = pending.command.name;
  if (const auto result = memory_.Find(name)) {
    done(result->number > 0 ? SubmitStatus::kCommitted : SubmitStatus::kUnknown, *result);
    return;
  }
  Waiting& waiting = waiting_[name];
  waiting.done.push_back(std::move(done));
  if (waiting.done.size() > 1) return;  // it is proposed already
  waiting.since = pending.since = runtime_.Now();
  pending_.push_back(std::move(pending));
  has_pending_->Set(true);
}

void CopilotBase::Answer(std::uint64_t name, SubmitStatus status,
                         const CommandMemory::Result& result) {
  const auto waiting = waiting_.extract(name);
  if (waiting.empty()) return;
  if (status == SubmitStatus::kCommitted) {
    yielding_.OnRun(waiting.mapped().since, pilots_.Has(running_), runtime_.Now());
  }
  for (const Done& done : waiting.mapped().done) done(status, result);
}

// ---- batches ----

void CopilotBase::StartProposing(Lane lane, EntryIndex latest) {
  latest_proposed_ = latest;
  reserved_ = 0;
  turns_missed_ = 0;
  yielding_ = {};
  our_turn_->Set(lane == Lane::kPilot);  // the pilot starts
  runtime_.Spawn("batches", [this, lane] { ProposeLoop(lane); });
}

// Ping-pong batching: a batch is closed when the other pilot's proposal arrives, or after a while.
// Then the dependency of each is the other's latest, and the fast path is usual.
void CopilotBase::ProposeLoop(Lane lane) {
  const View view = pilots_.view(lane);
  const auto leads = [&] { return pilots_.Has(lane) && pilots_.view(lane) == view; };
  while (leads()) {
    has_pending_->Wait();
    if (!yielding_.yields()) AwaitTurn();
    if (leads() && HoldsBack()) continue;
    if (!leads()) break;
    Reserve(lane);
    if (!leads()) break;
    std::vector<Pending> batch = TakeBatch();
    if (batch.empty()) continue;
    our_turn_->Set(false);
    StartRound(lane, batch);
    if (rounds_ >= kRoundsMax) round_ended_->Set(false);
    round_ended_->Wait();
  }
}

void CopilotBase::AwaitTurn() {
  const bool timed_out = our_turn_->Wait(BatchPatience()) == Outcome::kTimedOut;
  turns_missed_ = timed_out ? turns_missed_ + 1 : turns_missed_;
}

// True if this pilot yields, and proposes nothing yet.
bool CopilotBase::HoldsBack() {
  yielding_.TryAgainIfDue(runtime_.Now());
  if (!yielding_.yields()) return false;
  DropRun();
  if (pending_.empty()) return true;
  const Time since = pending_.front().since;
  yielding_.NoticePause(since, runtime_.Now());
  const Time due = yielding_.DueAt(since);
  if (runtime_.Now() >= due) return false;
  runtime_.Sleep(due - runtime_.Now());
  return true;
}

// Commands that came by the other lane, and have run.
void CopilotBase::DropRun() {
  std::erase_if(pending_,
                [this](const Pending& each) { return !waiting_.contains(each.command.name); });
  has_pending_->Set(!pending_.empty());
}

// Waits until the next index is reserved: rarely, because it reserves more while some are left.
void CopilotBase::Reserve(Lane lane) {
  if (reserved_ < NextIndex(lane) + kReserved / 2 && !std::exchange(reserving_, true)) {
    const EntryIndex up_to = NextIndex(lane) + kReserved;
    journal_.WriteReservation(lane, up_to);
    journal_.WhenDurable([this, up_to, lane, view = pilots_.view(lane)] {
      reserving_ = false;
      if (pilots_.Has(lane) && pilots_.view(lane) == view) reserved_ = up_to;
      may_propose_->Set(true);
    });
  }
  while (pilots_.Has(lane) && reserved_ < NextIndex(lane)) {
    may_propose_->Set(false);
    may_propose_->Wait();
  }
}

// A pilot that misses its turns is not waited for.
Duration CopilotBase::BatchPatience() const {
  return turns_missed_ >= kTurnsMissedMax ? Duration(0) : BatchPatienceFor(round_time_);
}

std::vector<CopilotBase::Pending> CopilotBase::TakeBatch() {
  std::vector<Pending> batch;
  std::size_t bytes = 0;
  auto next = pending_.begin();
  for (; next != pending_.end() && bytes < kBatchBytesMax; ++next) {
    if (!waiting_.contains(next->command.name)) continue;  // it came by the other lane, and has run
    if (yielding_.yields() && runtime_.Now() < yielding_.DueAt(next->since)) break;
    bytes += SizeOf(next->command);
    batch.push_back(std::move(*next));
  }
  pending_.erase(pending_.begin(), next);
  has_pending_->Set(!pending_.empty());
  return batch;
}

void CopilotBase::StartRound(Lane lane, const std::vector<Pending>& batch) {
  FastAccept proposal{lane,
                      pilots_.view(lane),
                      NextIndex(lane),
                      Log(Other(lane)).latest_known(),
                      pilots_.owner(Other(lane)),
                      {}};
  for (const Pending& each : batch) proposal.commands.push_back(each.command);
  latest_proposed_ = proposal.index;
  ++rounds_;
  const EntryIndex index = proposal.index;
  runtime_.Spawn("propose", [this, lane, index, proposal = std::move(proposal),
                             client = batch.front().client] {
    runtime_.set_dependency(client);
    Log(lane).BodyOf(index).seen_at = runtime_.Now();
    Propose(proposal);
    // A taker that has died, or is slow itself, is not waited for long. No other round begins
    // meanwhile: the entries of a pilot that is slow itself would hold up those of the other.
    const auto take_over_after = [&](Duration patience) {
      if (Log(lane).IsDecided(index)) return;
      if (Log(lane).Decided(index)->Wait(patience) != Outcome::kReady) TakeOver(lane, index);
    };
    const bool has_taker =
        !Log(lane).IsDecided(index) && HighestPromise(lane, index) > FirstBallot(proposal.view);
    if (has_taker) take_over_after(TakeoverPatience());
    --rounds_;
    round_ended_->Set(true);
    take_over_after(RoundPatience());  // a majority was missing
  });
}

// The other pilot has proposed after our entry `seen`. It takes its turns again if it does so
// twice: one that yields proposes now and then.
void CopilotBase::OnOtherPilotsTurn(Lane ours, EntryIndex seen) {
  our_turn_->Set(true);
  if (seen <= Log(ours).base()) return;
  const Time now = runtime_.Now();
  const Duration took = now - Log(ours).BodyOf(seen).seen_at;
  const Duration since_last = now - std::exchange(other_proposed_, now);
  const Duration patience = BatchPatienceFor(round_time_);
  if (took <= patience && since_last <= 2 * patience) turns_missed_ = 0;
}

// ---- votes ----

Duration CopilotBase::FastPatience() const {
  return std::max(kFastPatienceMin, round_time_.Usual());
}

// An entry on the slow path takes two rounds. If it were taken over earlier, its pilot would be
// refused, and pilots that are both in time could hinder each other for as long as clients send.
Duration CopilotBase::TakeoverPatience() const {
  const Duration round = round_time_.Usual();
  const Duration patience = std::clamp(their_time_.Mean() * 3 / 2, round, 2 * round);
  return std::clamp(patience, kTakeoverPatienceMin, kTakeoverPatienceMax);
}

Duration CopilotBase::RoundPatience() const {
  return std::clamp(std::max(8 * round_time_.Usual(), backoff_), kRoundPatienceMin,
                    kRoundPatienceMax);
}

// Waits for a majority. After a timeout the next wait is twice as long: a replica that is slow
// itself would never hear one. What was long enough stays so: a takeover has two waits.
Outcome CopilotBase::AwaitMajority(Event& event) {
  const Duration patience = RoundPatience();
  const Time began = runtime_.Now();
  const Outcome outcome = event.Wait(patience);
  if (outcome == Outcome::kTimedOut) backoff_ = std::max(backoff_, 2 * patience);
  if (outcome == Outcome::kReady) backoff_ = std::min(backoff_, 2 * (runtime_.Now() - began));
  return outcome;
}

std::vector<PeerId> CopilotBase::PeersInReach() const {
  std::vector<PeerId> peers;
  for (const PeerId peer : runtime_.peers()) {
    if (runtime_.HeldBytes(peer) <= kHeldBytesMax) peers.push_back(peer);
  }
  return peers;
}

// A slow peer's calls must not stay in our memory. These waits delay nobody.
void CopilotBase::ReleaseLater(BroadcastCalls calls) {
  runtime_.Spawn("release", [this, calls = std::move(calls)]() mutable {
    runtime_.set_dependency({});  // no client's
    const auto everybody = std::make_shared<AndEvent>();
    for (const auto& call : calls.all()) everybody->Add(call);
    everybody->Wait(kStragglerGrace);
    calls.Release();
  });
}

bool CopilotBase::NoteReply(PeerId peer, Lane lane, const FastAcceptReply& reply) {
  if (pilots_.Has(lane)) {
    seen_[static_cast<std::size_t>(peer)] = {reply.other_view, reply.other_seen};
    if (reply.dependency > Log(Other(lane)).latest_known()) heard_from_ = peer;
    if (reply.recorded) Log(Other(lane)).Hear(reply.dependency, runtime_.Now());
    news_->Set(true);
  }
  return pilots_.Know(lane, reply.view) && reply.recorded;
}

void CopilotBase::NoteRefusal(Lane lane, EntryIndex index, Ballot promised) {
  pilots_.Know(lane, ViewOf(promised));
  if (index <= Log(lane).base()) return;
  Ballot& refused = Log(lane).BodyOf(index).refused;
  refused = std::max(refused, promised);
}

// What a ballot must reach for this entry.
Ballot CopilotBase::PromisedOf(Lane lane, EntryIndex index) const {
  const Ballot of_view = FirstBallot(pilots_.view(lane));
  if (index <= Log(lane).base()) return of_view;
  return std::max(of_view, Log(lane).RecordOf(index).promised);
}

Ballot CopilotBase::HighestPromise(Lane lane, EntryIndex index) {
  return std::max(Log(lane).RecordOf(index).promised, Log(lane).BodyOf(index).refused);
}

// The next ballot that is ours alone, above all that we know of.
Ballot CopilotBase::NextBallot(Lane lane, EntryIndex index) {
  const auto replicas = static_cast<Ballot>(runtime_.replicas());
  const Ballot first = FirstBallot(pilots_.view(lane));
  const Ballot above = std::max(first, HighestPromise(lane, index));
  const Ballot turn = (above - first) / replicas + 1;
  return first + turn * replicas + static_cast<Ballot>(runtime_.self());
}

void CopilotBase::OnFastAccept(const FastAccept& request,
                               const Responder<FastAcceptReply>& responder) {
  const auto dependency = RecordProposal(request);
  const Lane other = Other(request.lane);
  if (dependency) {
    Log(request.lane).Hear(request.index, runtime_.Now());
    Time& seen_at = Log(request.lane).BodyOf(request.index).seen_at;
    if (seen_at == Time(0)) seen_at = runtime_.Now();
    if (pilots_.Has(other)) OnOtherPilotsTurn(other, request.dependency);
  }
  const FastAcceptReply reply{pilots_.view(request.lane), dependency.has_value(),
                              dependency.value_or(0), pilots_.view(other),
                              Log(other).SeenUpTo(pilots_.view(other))};
  journal_.WhenDurable([responder, reply] { responder.Send(reply); });
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

void CopilotBase::OnAccept(const Accept& request, const Responder<AcceptReply>& responder) {
  const bool accepted = RecordAccept(request) || IsDecidedAs(request);
  const Ballot promised = PromisedOf(request.lane, request.index);
  journal_.WhenDurable([responder, accepted, promised] { responder.Send({accepted, promised}); });
}

// ---- decisions ----

// Without the other pilot's vote nobody else could tell whether the entry was committed, if we
// crashed: then our disk must.
void CopilotBase::DecideFast(Lane lane, EntryIndex index, const Decided& decided,
                             bool witness_accepted) {
  if (witness_accepted) {
    DecideAndTell(lane, index, decided);
    return;
  }
  Log(lane).BodyOf(index).is_hidden = true;
  Decide(lane, index, decided.value);
  journal_.WhenDurable([this, lane, index] { RevealAndTell(lane, index); });
}

void CopilotBase::NoteWitness(Lane lane, View view, EntryIndex index) {
  LaneLog& log = Log(lane);
  if (log.IsHidden(index) && log.BodyOf(index).origin == view) RevealAndTell(lane, index);
}

// Hidden is only what we have proposed, so its commands are here.
void CopilotBase::RevealAndTell(Lane lane, EntryIndex index) {
  LaneLog& log = Log(lane);
  if (!log.IsHidden(index)) return;
  Reveal(lane, index);
  const Record record = log.RecordOf(index);
  Tell(lane, index, {record.no_op, record.dependency}, *log.BodyOf(index).origin);
}

// Others may hear of the decision: it is on our disk, or another replica has told us.
void CopilotBase::Reveal(Lane lane, EntryIndex index) {
  if (!Log(lane).IsHidden(index)) return;
  Log(lane).BodyOf(index).is_hidden = false;
  NoteDecision(lane, index);
  news_->Set(true);
}

void CopilotBase::DecideAndTell(Lane lane, EntryIndex index, const Decided& decided) {
  if (Log(lane).IsDecided(index)) return;
  if (!decided.value.no_op) LearnCommands(lane, index, decided.origin, decided.commands);
  Decide(lane, index, decided.value);
  Tell(lane, index, decided.value, decided.origin);
}

void CopilotBase::Tell(Lane lane, EntryIndex index, const Value& value, View origin) {
  ReleaseLater(Broadcast<Commit>(runtime_.rpc(), PeersInReach(),
                                 Commit{lane, index, value.no_op, value.dependency, origin}));
}

void CopilotBase::OnCommit(const Commit& request, const Responder<CommitReply>& responder) {
  const auto& [lane, index, no_op, dependency, origin] = request;
  LaneLog& log = Log(lane);
  bool known = log.IsDecided(index);
  if (known) Reveal(lane, index);
  if (!known && (no_op || log.BodyOf(index).origin == origin)) {
    Decide(lane, index, {no_op, dependency});
    known = true;
  }
  if (!known) Lacks(lane, index, responder.peer());
  responder.Send({known});
}

void CopilotBase::LearnCommands(Lane lane, EntryIndex index, View origin,
                                const Commands& commands) {
  LaneLog& log = Log(lane);
  if (log.BodyOf(index).origin == origin) return;
  log.SetCommands(index, origin, commands);
  journal_.WriteEntry(lane, index, log);
}

void CopilotBase::Decide(Lane lane, EntryIndex index, const Value& value) {
  LaneLog& log = Log(lane);
  Record record = log.RecordOf(index);
  record.kind = Record::Kind::kCommitted;
  record.no_op = value.no_op;
  record.dependency = value.no_op ? 0 : value.dependency;
  log.Set(index, record);
  journal_.WriteRecord(lane, index, log);
  if (!log.IsHidden(index)) NoteDecision(lane, index);
  LetRunLater();
  // A taker has given up what this pilot proposed: it proposes the commands again.
  if (!value.no_op || !pilots_.Has(lane)) return;
  for (const Command& command : log.BodyOf(index).commands) {
    if (waiting_.contains(command.name)) pending_.push_back({command, Dependency()});
  }
  if (!pending_.empty()) has_pending_->Set(true);
}

void CopilotBase::NoteDecision(Lane lane, EntryIndex index) {
  const Record record = Log(lane).RecordOf(index);
  const LaneLog::Body& body = Log(lane).BodyOf(index);
  ObserveDecide(runtime_, lane, index, {record.no_op, record.dependency}, body.commands);
  if (body.seen_at == Time(0) || body.origin != pilots_.view(lane)) return;
  const bool is_ours = pilots_.Has(lane);
  const Duration took = runtime_.Now() - body.seen_at;
  yielding_.OnDecision(is_ours, took);
  if (!is_ours && !IsTakeover(record.promised)) their_time_.Add(took);
}

// ---- execution ----

// All outputs of a step leave at its end. Commands take long to run, and the other pilot waits for
// our vote and our proposal: without this, each of its rounds would take as long as a batch runs.
void CopilotBase::LetRunLater() {
  if (std::exchange(letting_, true)) return;
  runtime_.Spawn("let-run", [this] {
    runtime_.set_dependency({});  // no client's
    runtime_.Sleep(1ns);
    letting_ = false;
    may_run_ = DecidedUpTo();
    news_->Set(true);
  });
}

std::optional<Value> CopilotBase::NextDecision(Lane lane) const {
  const EntryIndex index = At(ran_, lane) + 1;
  const Record next = Log(lane).RecordOf(index);
  if (next.kind != Record::Kind::kCommitted || Log(lane).IsHidden(index)) return std::nullopt;
  if (index > At(may_run_, lane)) return std::nullopt;
  return Value{next.no_op, next.dependency};
}

const Commands& CopilotBase::BeginEntry(Lane lane) {
  static const Commands kNoCommands;
  const EntryIndex index = ++At(ran_, lane);
  ObserveRun(runtime_, lane, index);
  running_ = lane;
  run_first_ = 0;
  return Log(lane).RecordOf(index).no_op ? kNoCommands : Log(lane).BodyOf(index).commands;
}

void CopilotBase::EndEntry() {
  JudgeOwnEntry();
  CompactIfLarge();
  // Messages of others must not wait for a long backlog.
  ++entries_in_step_;
  if (commands_in_step_ < kCommandsPerStep && entries_in_step_ < kEntriesPerStep) return;
  runtime_.Sleep(1ns);
  commands_in_step_ = entries_in_step_ = 0;
}

// Whether this pilot's entry was of use: see Yielding. Reads are not given to both pilots.
void CopilotBase::JudgeOwnEntry() {
  const EntryIndex index = At(ran_, running_);
  if (!pilots_.Has(running_) || index <= Log(running_).base()) return;
  const Record record = Log(running_).RecordOf(index);
  const LaneLog::Body& body = Log(running_).BodyOf(index);
  const auto commands = std::ranges::count_if(
      body.commands, [](const Command& command) { return !command.text.empty(); });
  if (body.origin != pilots_.view(running_) || commands == 0) return;
  const bool is_taken_over = record.no_op || IsTakeover(record.promised);
  yielding_.OnOwnEntry(
      {index, static_cast<int>(commands), run_first_, is_taken_over},
      {latest_proposed_, BatchPatienceFor(round_time_), waiting_.size(), runtime_.Now()});
}

void CopilotBase::Apply(const Command& command) {
  const std::uint64_t number = ++commands_run_;
  ++commands_in_step_;
  ++run_first_;
  ObserveApply(runtime_, number, command);
  const CommandMemory::Result result{number, machine_.Apply(number, command.text)};
  memory_.Remember(command.name, number, result.text);
  Answer(command.name, SubmitStatus::kCommitted, result);
}

std::shared_ptr<Event> CopilotBase::News() {
  news_->Set(false);
  return news_;
}

bool CopilotBase::IsNull(Lane lane, EntryIndex up_to) {
  if (!AreNull(lane, up_to)) return false;
  At(null_, lane) = up_to;
  ObserveNull(runtime_, lane, up_to);
  SettleLater(lane, up_to);
  return true;
}

// Null dependency elimination. All commands of the entries up to `up_to` have run, and a majority
// has recorded these very entries: whatever is decided for them, they change nothing. Our entries
// need not wait for them. Their own lane does: their dependencies also order what is behind them.
bool CopilotBase::AreNull(Lane lane, EntryIndex up_to) {
  const View view = pilots_.view(lane);
  seen_[static_cast<std::size_t>(runtime_.self())] = {view, Log(lane).SeenUpTo(view)};
  const auto has_seen = [&](const Seen& seen) { return seen.view == view && seen.up_to >= up_to; };
  if (!has_seen(seen_[static_cast<std::size_t>(runtime_.self())])) return false;
  if (std::ranges::count_if(seen_, has_seen) < quorums_.majority()) return false;
  for (EntryIndex index = RanOrNull(lane) + 1; index <= up_to; ++index) {
    const auto& commands = Log(lane).BodyOf(index).commands;
    const bool have_run = std::ranges::all_of(commands, [this](const Command& command) {
      return command.text.empty() || memory_.HasRun(command.name);
    });
    if (!have_run) return false;
  }
  return true;
}

// Nobody here waits for null entries, but all other replicas do. If their pilot does not decide
// them soon, this one takes them over.
void CopilotBase::SettleLater(Lane lane, EntryIndex last) {
  runtime_.Spawn("settle", [this, lane, last] {
    runtime_.set_dependency({});  // no client's
    runtime_.Sleep(kSettleAfter * TakeoverPatience());
    for (EntryIndex index = Log(lane).decided() + 1; index <= last; ++index) {
      StartTakeover(lane, index);
    }
  });
}

// ---- takeover ----

void CopilotBase::StartTakeover(Lane lane, EntryIndex index) {
  if (Log(lane).IsDecided(index) || Log(lane).BodyOf(index).taken_over) return;
  runtime_.Spawn("takeover", [this, lane, index] { TakeOver(lane, index); });
}

void CopilotBase::TakeOver(Lane lane, EntryIndex index) {
  if (Log(lane).IsDecided(index) || std::exchange(Log(lane).BodyOf(index).taken_over, true)) return;
  LearnIfBehind(lane, index);
  const auto is_open = [&] { return !Log(lane).IsDecided(index) && pilots_.HasAny(); };
  for (bool again = false; is_open() && !TryTakeover(lane, index); again = true) {
    // Two takers of one entry must not stop each other for ever. But the first refusal tells only
    // which ballot it takes.
    const Duration pause = std::min(round_time_.Usual(), kRoundPatienceMin);
    if (again) runtime_.Sleep(runtime_.RandomBetween(pause, 4 * pause));
  }
  if (index > Log(lane).base()) Log(lane).BodyOf(index).taken_over = false;
}

// A pilot has at most kRoundsMax rounds under way. Earlier entries are usually decided, and this
// replica has missed the decisions. It asks one peer for them: a takeover of each entry would keep
// its processor busy. The first one does not wait, because all others run after it.
void CopilotBase::LearnIfBehind(Lane lane, EntryIndex index) {
  const bool is_first = index == Log(lane).decided() + 1;
  const bool may_be_under_way = index + kRoundsMax > Log(lane).latest_known();
  if (is_first || may_be_under_way || heard_from_ == kNobody) return;
  if (asked_ == nullptr) {
    asked_ = std::make_shared<IntEvent>("asked", 1);
    runtime_.Spawn("ask", [this, lane] { AskForDecisions(lane); });
  }
  const auto asked = asked_;
  asked->Wait(TakeoverPatience());
}

void CopilotBase::AskForDecisions(Lane lane) {
  runtime_.set_dependency({});  // no client's
  const PeerId peer = heard_from_;
  if (LearnSome(peer, lane) == Learned::kAreGone) Lacks(lane, Log(lane).decided() + 1, peer);
  std::exchange(asked_, nullptr)->Set(1);
}

// ---- pilots ----

void CopilotBase::OnElected(Lane lane, EntryIndex latest) {
  for (EntryIndex index = Log(lane).decided() + 1; index <= latest; ++index) {
    StartTakeover(lane, index);
  }
  StartProposing(lane, latest);
}

void CopilotBase::OnDeposed(Lane) {
  std::vector<std::uint64_t> refused;
  for (const Pending& each : std::exchange(pending_, {})) refused.push_back(each.command.name);
  for (const std::uint64_t name : refused) Answer(name, SubmitStatus::kNotProposer, {});
  while (!waiting_.empty()) Answer(waiting_.begin()->first, SubmitStatus::kUnknown, {});
  has_pending_->Set(true);  // the loop ends
  our_turn_->Set(true);
  round_ended_->Set(true);
}

void CopilotBase::OnHeartbeat(PeerId from, const PerLane& decided, const PerLane& ran_everywhere) {
  for (const Lane lane : kLanes) {
    if (At(decided, lane) > Log(lane).decided()) Lacks(lane, At(decided, lane), from);
  }
  Truncate(ran_everywhere);
}

}  // namespace depfast::copilot
