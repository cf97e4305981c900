// Longer than other files, because a submission of this lab is copilot.h and copilot.cc.
#include "copilot.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "depfast/compound_event.h"
#include "depfast/timeout_event.h"
#include "quorum_event.h"
#include "settled_event.h"

namespace depfast::copilot {
namespace {

// The most rounds under way, and the most commands in one.
constexpr int kRoundsMax = 4;
constexpr std::size_t kBatchBytesMax = std::size_t{256} << 10;
constexpr EntryIndex kReserved = 64;

// The most entries that run in one step of the replica.
constexpr int kRunsPerStep = 16;

// A peer with more bytes than this in our queue gets no more of them, and learns later. What a peer
// has not taken after kStragglerGrace is dropped.
constexpr std::size_t kHeldBytesMax = std::size_t{64} << 10;
constexpr Duration kStragglerGrace = 100ms;

// Bounds of the timeouts that adapt to the time of a round.
constexpr Duration kFirstRoundTime = 2ms;
constexpr Duration kFastPatienceMin = 1ms;
constexpr Duration kTakeoverPatienceMin = 2ms;
constexpr Duration kTakeoverPatienceMax = 100ms;
constexpr int kSettleAfter = 4;  // times the patience for a takeover that somebody waits for
constexpr Duration kRoundPatienceMin = 50ms;
constexpr Duration kRoundPatienceMax = 4s;
constexpr Duration kBatchPatienceMax = 10ms;
constexpr int kTurnsMissedMax = 2;

// The other pilot's proposal comes after about one round trip.
Duration BatchPatienceFor(const LatencyEstimate& round_time) {
  return std::min(2 * round_time.Usual(), kBatchPatienceMax);
}

// An answer to Learn takes at most so long, or another replica is asked.
constexpr Duration kLearnPatience = 1s;
constexpr Duration kLearnPause = 50ms;

// With more bytes of commands than this, in memory and on the disk, the log is cut. Each lane keeps
// about the second figure.
constexpr std::size_t kCompactAboveBytes = std::size_t{8} << 20;
constexpr std::size_t kRetainedBytes = std::size_t{1} << 20;

// A snapshot's data: the memory of commands, and the state machine's state.
using State = std::pair<std::string, std::string>;

std::string PackState(const State& state) {
  msgpack::sbuffer buffer;
  msgpack::pack(buffer, state);
  return {buffer.data(), buffer.size()};
}

State UnpackState(const std::string& data) {
  return msgpack::unpack(data.data(), data.size()).get().as<State>();
}

}  // namespace

Copilot::Copilot(Runtime& runtime, StateMachine& machine, Durability durability)
    : runtime_(runtime),
      machine_(machine),
      quorums_(runtime.replicas()),
      journal_(runtime, durability),
      pilots_(runtime, journal_, *this),
      has_pending_(std::make_shared<ValueEvent<bool>>("commands", false, std::identity())),
      our_turn_(std::make_shared<ValueEvent<bool>>("turn", true, std::identity())),
      round_ended_(std::make_shared<ValueEvent<bool>>("round", true, std::identity())),
      may_propose_(std::make_shared<ValueEvent<bool>>("reserve", false, std::identity())),
      round_time_(kFirstRoundTime),
      news_(std::make_shared<ValueEvent<bool>>("news", false, std::identity())),
      seen_(static_cast<std::size_t>(runtime.replicas())),
      compact_above_(kCompactAboveBytes) {}

// ---- start ----

void Copilot::Start() {
  runtime_.Spawn("start", [this] {
    Recover();
    RunLoop();
  });
}

void Copilot::Recover() {
  Recovered recovered = journal_.Recover();
  logs_ = std::move(recovered.lanes);
  if (recovered.snapshot) Restore(*recovered.snapshot);
  for (const Lane lane : kLanes) {
    for (EntryIndex index = Log(lane).base() + 1; index <= Log(lane).last(); ++index) {
      const Record record = Log(lane).RecordOf(index);
      if (record.kind == Record::Kind::kCommitted) ObserveDecision(lane, index);
    }
  }
  RegisterHandlers();
  pilots_.Start(recovered);
  RememberReserved(recovered);
  if (const auto lane = OwnLane()) StartProposing(*lane, 0);
}

// Entries that this replica may have proposed and forgotten. It knows nothing of them, as if it had
// promised them to a taker.
void Copilot::RememberReserved(const Recovered& recovered) {
  for (const Lane lane : kLanes) {
    LaneLog& log = Log(lane);
    for (EntryIndex index = log.base() + 1; index <= At(recovered.reserved, lane); ++index) {
      if (!log.RecordOf(index).is_known()) log.Set(index, {.promised = NextBallot(lane, index)});
    }
  }
}

void Copilot::RegisterHandlers() {
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

std::optional<Lane> Copilot::OwnLane() const {
  for (const Lane lane : kLanes) {
    if (pilots_.Has(lane)) return lane;
  }
  return std::nullopt;
}

std::vector<PeerId> Copilot::proposers() const {
  return {pilots_.owner(Lane::kPilot), pilots_.owner(Lane::kCopilot)};
}

// ---- clients ----

void Copilot::Submit(std::string command, const Dependency& client, SubmitDone done) {
  if (!OwnLane() || command.empty()) {
    done({SubmitStatus::kNotProposer, pilots_.owner(Lane::kPilot), 0, ""});
    return;
  }
  const std::uint64_t name = client.kind == Dependency::Kind::kClient ? client.id : NewName();
  Enqueue({{name, std::move(command)}, client},
          [this, done = std::move(done)](SubmitStatus status, const CommandMemory::Result& result) {
            done({status, runtime_.self(), result.number, result.text});
          });
}

void Copilot::ReadIndex(const Dependency& client, ReadDone done) {
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
std::uint64_t Copilot::NewName() {
  constexpr std::uint64_t kLastClient = (std::uint64_t{1} << (64 - kRequestBits)) - 1;
  const auto now = static_cast<std::uint64_t>(runtime_.Now() / 1us);
  unnamed_ = std::max(unnamed_ + 1, now);
  return (kLastClient - static_cast<std::uint64_t>(runtime_.self())) << kRequestBits | unnamed_;
}

void Copilot::Enqueue(Pending pending, Done done) {
  const std::uint64_t name = pending.command.name;
  if (const auto result = memory_.Find(name)) {
    done(result->number > 0 ? SubmitStatus::kCommitted : SubmitStatus::kUnknown, *result);
    return;
  }
  std::vector<Done>& waiting = waiting_[name];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;  // it is proposed already
  pending_.push_back(std::move(pending));
  has_pending_->Set(true);
}

void Copilot::Answer(std::uint64_t name, SubmitStatus status, const CommandMemory::Result& result) {
  const auto waiting = waiting_.extract(name);
  if (waiting.empty()) return;
  for (const Done& done : waiting.mapped()) done(status, result);
}

// ---- proposing ----

void Copilot::StartProposing(Lane lane, EntryIndex latest) {
  latest_proposed_ = latest;
  reserved_ = 0;
  turns_missed_ = 0;
  our_turn_->Set(lane == Lane::kPilot);  // the pilot starts
  runtime_.Spawn("batches", [this, lane] { ProposeLoop(lane); });
}

// Ping-pong batching: a batch is closed when the other pilot's proposal arrives, or after a while.
// Then the dependency of each is the other's latest, and the fast path is usual.
void Copilot::ProposeLoop(Lane lane) {
  const View view = pilots_.view(lane);
  const auto leads = [&] { return pilots_.Has(lane) && pilots_.view(lane) == view; };
  while (leads()) {
    has_pending_->Wait();
    const bool timed_out = our_turn_->Wait(BatchPatience()) == Outcome::kTimedOut;
    turns_missed_ = timed_out ? turns_missed_ + 1 : turns_missed_;
    if (!leads()) break;
    Reserve(lane);
    if (!leads()) break;
    std::vector<Pending> batch = TakeBatch();
    if (batch.empty()) continue;
    our_turn_->Set(false);
    runtime_.Spawn("propose", [this, lane, batch = std::move(batch)] { Propose(lane, batch); });
    runtime_.Yield();  // the round begins
    if (rounds_ >= kRoundsMax) round_ended_->Set(false);
    round_ended_->Wait();
  }
}

// Waits until the next index is reserved: rarely, because it reserves more while some are left.
void Copilot::Reserve(Lane lane) {
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
Duration Copilot::BatchPatience() const {
  return turns_missed_ >= kTurnsMissedMax ? Duration(0) : BatchPatienceFor(round_time_);
}

std::vector<Copilot::Pending> Copilot::TakeBatch() {
  std::vector<Pending> batch;
  std::size_t bytes = 0;
  auto next = pending_.begin();
  for (; next != pending_.end() && bytes < kBatchBytesMax; ++next) {
    if (!waiting_.contains(next->command.name)) continue;  // it came by the other lane, and has run
    bytes += next->command.text.size() + sizeof(Command);
    batch.push_back(std::move(*next));
  }
  pending_.erase(pending_.begin(), next);
  has_pending_->Set(!pending_.empty());
  return batch;
}

void Copilot::Propose(Lane lane, const std::vector<Pending>& batch) {
  const View view = pilots_.view(lane);
  runtime_.set_dependency(batch.front().client);
  FastAccept request{
      lane, view, NextIndex(lane), Log(Other(lane)).latest_known(), pilots_.owner(Other(lane)), {}};
  for (const Pending& each : batch) request.commands.push_back(each.command);
  if (request.index > reserved_) {  // others have taken over what was reserved
    pending_.insert(pending_.begin(), batch.begin(), batch.end());
    has_pending_->Set(true);
    return;
  }
  const EntryIndex index = latest_proposed_ = request.index;
  RecordProposal(request);
  Log(lane).BodyOf(index).proposed_at = runtime_.Now();
  Broadcast<FastAccept> calls(runtime_.rpc(), PeersInReach(), request);
  const Round round = VotesOn(calls, request);

  // One wait for both paths: a majority orders the entry, and the fast path is decided or late.
  ++rounds_;
  const auto fast_is_over =
      OrEvent::Of({SettledEvent::Of(round.fast),
                   TimeoutEvent::After(std::max(kFastPatienceMin, round_time_.Usual()))});
  AwaitMajority(*AndEvent::Of({round.ordered, fast_is_over}));
  --rounds_;
  round_ended_->Set(true);
  ReleaseLater(calls);

  const auto is_ours = [&] {
    return pilots_.Has(lane) && !Log(lane).IsDecided(index) &&
           Log(lane).RecordOf(index).promised == FirstBallot(view);
  };
  Decided decided{
      {.dependency = request.dependency}, request.dependency, view, std::move(request.commands)};
  if (is_ours() && round.fast->Ready()) {
    DecideFast(lane, index, decided, *round.witness_accepted);
  } else if (is_ours() && round.ordered->Ready()) {
    decided.value.dependency = SlowDependency(*round.dependencies, quorums_);
    if (AcceptByMajority(lane, index, FirstBallot(view), decided) && is_ours()) {
      DecideAndTell(lane, index, decided);
    }
  }
  // Without a majority, or after a taker that has died, the proposer takes its own entry over.
  if (Log(lane).IsDecided(index)) return;
  if (Log(lane).Decided(index)->Wait(RoundPatience()) != Outcome::kReady) TakeOver(lane, index);
}

Copilot::Round Copilot::VotesOn(const Broadcast<FastAccept>& calls, const FastAccept& request) {
  const int replicas = runtime_.replicas();
  Round round{std::make_shared<QuorumEvent>(quorums_.fast(), replicas),
              QuorumEvent::Majority(replicas), std::make_shared<std::vector<EntryIndex>>(),
              std::make_shared<bool>(false)};
  for (const auto& call : calls.calls()) {
    round.fast->Add(call, [&answered = *call, proposed = request.dependency,
                           witness = request.witness, accepted = round.witness_accepted] {
      const bool yes = answered.reply().recorded && answered.reply().dependency == proposed;
      *accepted |= yes && answered.peer() == witness;
      return yes;
    });
    round.ordered->Add(call, [this, &answered = *call, lane = request.lane, begin = runtime_.Now(),
                              dependencies = round.dependencies] {
      const FastAcceptReply& reply = answered.reply();
      NoteSeen(answered.peer(), Other(lane), reply);
      if (!pilots_.Know(lane, reply.view) || !reply.recorded) return false;
      dependencies->push_back(reply.dependency);
      // How long a majority takes: what a slow replica takes is no measure for any timeout.
      if (std::ssize(*dependencies) == quorums_.majority()) round_time_.Add(runtime_.Now() - begin);
      return true;
    });
  }
  // Those that are not asked cannot answer. Our own vote counts once it is durable.
  for (int absent = static_cast<int>(calls.size()); absent < replicas - 1; ++absent) {
    round.fast->VoteLost(absent);
    round.ordered->VoteLost(absent);
  }
  journal_.WhenDurable([round, own = replicas - 1, proposed = request.dependency] {
    round.dependencies->push_back(proposed);
    round.fast->VoteYes(own);
    round.ordered->VoteYes(own);
  });
  return round;
}

bool Copilot::AcceptByMajority(Lane lane, EntryIndex index, Ballot ballot, const Decided& value) {
  const Accept request{
      lane,         ballot,        index, value.value.no_op, value.initial, value.value.dependency,
      value.origin, value.commands};
  if (!RecordAccept(request)) return false;
  Broadcast<Accept> calls(runtime_.rpc(), PeersInReach(), request);
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  for (const auto& call : calls.calls()) {
    quorum->Add(call, [this, lane, index, &answered = *call] {
      NoteRefusal(lane, index, answered.reply().promised);
      return answered.reply().accepted;
    });
  }
  const int own = runtime_.replicas() - 1;
  for (int absent = static_cast<int>(calls.size()); absent < own; ++absent) {
    quorum->VoteLost(absent);
  }
  journal_.WhenDurable([quorum, own] { quorum->VoteYes(own); });
  AwaitMajority(*quorum);
  ReleaseLater(calls);
  return quorum->Ready();
}

// Without the other pilot's vote nobody else could tell whether the entry was committed, if we
// crashed: then our disk must.
void Copilot::DecideFast(Lane lane, EntryIndex index, const Decided& decided,
                         bool witness_accepted) {
  if (witness_accepted) {
    DecideAndTell(lane, index, decided);
    return;
  }
  Log(lane).BodyOf(index).is_hidden = true;
  Decide(lane, index, decided.value);
  journal_.WhenDurable([this, lane, index, decided] {
    if (index > Log(lane).base()) {
      Log(lane).BodyOf(index).is_hidden = false;
      ObserveDecision(lane, index);
    }
    news_->Set(true);
    Tell(lane, index, decided);
  });
}

void Copilot::DecideAndTell(Lane lane, EntryIndex index, const Decided& decided) {
  if (Log(lane).IsDecided(index)) return;
  if (!decided.value.no_op) LearnCommands(lane, index, decided.origin, decided.commands);
  Decide(lane, index, decided.value);
  Tell(lane, index, decided);
}

void Copilot::Tell(Lane lane, EntryIndex index, const Decided& decided) {
  ReleaseLater(Broadcast<Commit>(
      runtime_.rpc(), PeersInReach(),
      Commit{lane, index, decided.value.no_op, decided.value.dependency, decided.origin}));
}

Duration Copilot::RoundPatience() const {
  return std::clamp(std::max(8 * round_time_.Usual(), backoff_), kRoundPatienceMin,
                    kRoundPatienceMax);
}

// Waits for a majority. After a timeout the next wait is twice as long: a replica that is slow
// itself would never hear one.
Outcome Copilot::AwaitMajority(Event& event) {
  const Duration patience = RoundPatience();
  const Outcome outcome = event.Wait(patience);
  if (outcome == Outcome::kTimedOut) backoff_ = std::max(backoff_, 2 * patience);
  if (outcome == Outcome::kReady) backoff_ = std::min(backoff_, patience) / 2;
  return outcome;
}

std::vector<PeerId> Copilot::PeersInReach() const {
  std::vector<PeerId> peers;
  for (const PeerId peer : runtime_.peers()) {
    if (runtime_.HeldBytes(peer) <= kHeldBytesMax) peers.push_back(peer);
  }
  return peers;
}

// A slow peer's calls must not stay in our memory. These waits delay nobody.
void Copilot::ReleaseLater(BroadcastCalls calls) {
  runtime_.Spawn("release", [calls = std::move(calls)]() mutable {
    const auto everybody = std::make_shared<AndEvent>();
    for (const auto& call : calls.all()) everybody->Add(call);
    everybody->Wait(kStragglerGrace);
    calls.Release();
  });
}

// ---- every replica's side ----

std::optional<EntryIndex> Copilot::RecordProposal(const FastAccept& request) {
  const auto& [lane, view, index, dependency, witness, commands] = request;
  LaneLog& log = Log(lane);
  if (!pilots_.Hear(lane, view) || log.IsDecided(index)) return std::nullopt;
  const Ballot ballot = FirstBallot(view);
  const Record before = log.RecordOf(index);
  if (before.promised > ballot || before.kind == Record::Kind::kAccepted) return std::nullopt;
  if (before.kind != Record::Kind::kNone && before.ballot == ballot) return before.dependency;
  const auto suggestion = Suggestion(index, dependency, Log(Other(lane)).records());
  const auto kind = suggestion ? Record::Kind::kSuggested : Record::Kind::kFastAccepted;
  log.SetCommands(index, view, commands);
  log.Set(index,
          {kind, false, ballot, ballot, dependency, suggestion.value_or(dependency), witness});
  journal_.WriteEntry(lane, index, log);
  return suggestion.value_or(dependency);
}

void Copilot::OnFastAccept(const FastAccept& request, const Responder<FastAcceptReply>& responder) {
  const auto dependency = RecordProposal(request);
  const Lane other = Other(request.lane);
  if (dependency && pilots_.Has(other)) OnOtherPilotsTurn(other, request.dependency);
  const FastAcceptReply reply{pilots_.view(request.lane), dependency.has_value(),
                              dependency.value_or(0), pilots_.view(other),
                              Log(other).SeenUpTo(pilots_.view(other))};
  journal_.WhenDurable([responder, reply] { responder.Send(reply); });
}

// The other pilot has proposed after our entry `seen`.
void Copilot::OnOtherPilotsTurn(Lane ours, EntryIndex seen) {
  our_turn_->Set(true);
  if (seen <= Log(ours).base()) return;
  const Duration took = runtime_.Now() - Log(ours).BodyOf(seen).proposed_at;
  if (took <= BatchPatienceFor(round_time_)) turns_missed_ = 0;
}

bool Copilot::RecordAccept(const Accept& request) {
  const auto& [lane, ballot, index, no_op, initial, dependency, origin, commands] = request;
  LaneLog& log = Log(lane);
  // A late Accept may ask for another value than a taker has decided since.
  if (!pilots_.Know(lane, ViewOf(ballot)) || log.IsDecided(index)) return false;
  const Record before = log.RecordOf(index);
  if (before.promised > ballot) return false;
  if (!no_op) log.SetCommands(index, origin, commands);
  const EntryIndex known = before.kind == Record::Kind::kNone ? initial : before.initial;
  log.Set(index,
          {Record::Kind::kAccepted, no_op, ballot, ballot, known, dependency, before.witness});
  journal_.WriteEntry(lane, index, log);
  return true;
}

void Copilot::OnAccept(const Accept& request, const Responder<AcceptReply>& responder) {
  const bool accepted = RecordAccept(request);
  const Ballot promised = PromisedOf(request.lane, request.index);
  journal_.WhenDurable([responder, accepted, promised] { responder.Send({accepted, promised}); });
}

// What a ballot must reach for this entry.
Ballot Copilot::PromisedOf(Lane lane, EntryIndex index) const {
  const Ballot of_view = FirstBallot(pilots_.view(lane));
  if (index <= Log(lane).base()) return of_view;
  return std::max(of_view, Log(lane).RecordOf(index).promised);
}

void Copilot::OnCommit(const Commit& request, const Responder<CommitReply>& responder) {
  const auto& [lane, index, no_op, dependency, origin] = request;
  LaneLog& log = Log(lane);
  bool known = log.IsDecided(index);
  if (!known && (no_op || log.BodyOf(index).origin == origin)) {
    Decide(lane, index, {no_op, dependency});
    known = true;
  }
  if (!known) Lacks(lane, index, responder.peer());
  responder.Send({known});
}

void Copilot::LearnCommands(Lane lane, EntryIndex index, View origin, const Commands& commands) {
  LaneLog& log = Log(lane);
  if (log.BodyOf(index).origin == origin) return;
  log.SetCommands(index, origin, commands);
  journal_.WriteEntry(lane, index, log);
}

void Copilot::Decide(Lane lane, EntryIndex index, const Value& value) {
  LaneLog& log = Log(lane);
  Record record = log.RecordOf(index);
  record.kind = Record::Kind::kCommitted;
  record.no_op = value.no_op;
  record.dependency = value.no_op ? 0 : value.dependency;
  log.Set(index, record);
  journal_.WriteRecord(lane, index, log);
  if (!log.IsHidden(index)) ObserveDecision(lane, index);
  // A taker has given up what this pilot proposed: it proposes the commands again.
  if (!value.no_op || !pilots_.Has(lane)) return;
  for (const Command& command : log.BodyOf(index).commands) {
    if (waiting_.contains(command.name)) pending_.push_back({command, Dependency()});
  }
  if (!pending_.empty()) has_pending_->Set(true);
}

void Copilot::ObserveDecision(Lane lane, EntryIndex index) {
  const Record record = Log(lane).RecordOf(index);
  ObserveDecide(runtime_, lane, index, {record.no_op, record.dependency},
                Log(lane).BodyOf(index).commands);
}

// ---- execution ----

void Copilot::RunLoop() {
  runtime_.set_dependency({});
  for (int runs = 0;; ++runs) {
    // Messages of others must not wait for a long backlog.
    if (runs % kRunsPerStep == kRunsPerStep - 1) runtime_.Sleep(1ns);
    const Next next = NextToRun(NextDecision(Lane::kPilot), RanOrNull(Lane::kPilot),
                                NextDecision(Lane::kCopilot), RanOrNull(Lane::kCopilot));
    if (next == Next::kNothing) {
      AwaitNext();
    } else {
      Run(next == Next::kPilot ? Lane::kPilot : Lane::kCopilot);
    }
  }
}

std::optional<Value> Copilot::NextDecision(Lane lane) const {
  const EntryIndex index = At(ran_, lane) + 1;
  const Record next = Log(lane).RecordOf(index);
  if (next.kind != Record::Kind::kCommitted || Log(lane).IsHidden(index)) return std::nullopt;
  return Value{next.no_op, next.dependency};
}

// Waits for one event per entry (document 002, figure 4): those of the next entries that are not
// decided yet. A pilot's wait ends when the entry is seen to be null, or it takes the entry over.
void Copilot::AwaitNext() {
  news_->Set(false);
  const auto any = OrEvent::Of({news_});
  for (const Lane lane : kLanes) {
    const EntryIndex next = At(ran_, lane) + 1;
    if (!Log(lane).IsDecided(next)) any->Add(Log(lane).Decided(next));
  }
  const auto waited = WaitedFor();
  if (!waited) {
    any->Wait();
    return;
  }
  const auto [lane, last] = *waited;
  if (IsNull(lane, last)) {
    At(null_, lane) = last;
    ObserveNull(runtime_, lane, last);
    SettleLater(lane, last);
    return;
  }
  const EntryIndex next = At(ran_, lane) + 1;
  if (std::exchange(waits_for_, {lane, next}) != std::pair{lane, next}) {
    waits_since_ = runtime_.Now();
  }
  const Time limit = waits_since_ + TakeoverPatience();
  const bool is_late = runtime_.Now() >= limit;
  if (is_late) {
    for (EntryIndex index = next; index <= last; ++index) StartTakeover(lane, index);
  }
  any->Wait(is_late ? kForever : limit - runtime_.Now());
}

// Nobody here waits for null entries, but all other replicas do. If their pilot does not decide
// them soon, this one takes them over.
void Copilot::SettleLater(Lane lane, EntryIndex last) {
  runtime_.Spawn("settle", [this, lane, last] {
    runtime_.Sleep(kSettleAfter * TakeoverPatience());
    for (EntryIndex index = Log(lane).decided() + 1; index <= last; ++index) {
      StartTakeover(lane, index);
    }
  });
}

// A pilot's next entry is decided, and waits for an entry of the other lane.
std::optional<std::pair<Lane, EntryIndex>> Copilot::WaitedFor() const {
  const auto ours = OwnLane();
  const auto next = ours ? NextDecision(*ours) : std::nullopt;
  if (!next || next->dependency <= RanOrNull(Other(*ours))) return std::nullopt;
  return std::pair{Other(*ours), next->dependency};
}

Duration Copilot::TakeoverPatience() const {
  return std::clamp(round_time_.Usual(), kTakeoverPatienceMin, kTakeoverPatienceMax);
}

void Copilot::Run(Lane lane) {
  const EntryIndex index = ++At(ran_, lane);
  ObserveRun(runtime_, lane, index);
  if (!Log(lane).RecordOf(index).no_op) {
    for (const Command& command : Log(lane).BodyOf(index).commands) RunCommand(command);
  }
  CompactIfLarge();
}

void Copilot::RunCommand(const Command& command) {
  if (command.text.empty()) {
    Answer(command.name, SubmitStatus::kCommitted, {});  // a read
    return;
  }
  if (memory_.HasRun(command.name)) return;  // by the other lane
  const std::uint64_t number = ++commands_run_;
  ObserveApply(runtime_, number, command);
  const CommandMemory::Result result{number, machine_.Apply(number, command.text)};
  memory_.Remember(command.name, number, result.text);
  Answer(command.name, SubmitStatus::kCommitted, result);
}

// Null dependency elimination. All commands of the entries up to `up_to` have run, and a majority
// has recorded these very entries: whatever is decided for them, they change nothing. Our entries
// need not wait for them. Their own lane does: their dependencies also order what is behind them.
bool Copilot::IsNull(Lane lane, EntryIndex up_to) {
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

void Copilot::NoteSeen(PeerId peer, Lane lane, const FastAcceptReply& reply) {
  if (!pilots_.Has(Other(lane))) return;
  seen_[static_cast<std::size_t>(peer)] = {reply.other_view, reply.other_seen};
  news_->Set(true);
}

// ---- takeover ----

void Copilot::StartTakeover(Lane lane, EntryIndex index) {
  if (Log(lane).IsDecided(index) || Log(lane).BodyOf(index).taken_over) return;
  runtime_.Spawn("takeover", [this, lane, index] { TakeOver(lane, index); });
}

void Copilot::TakeOver(Lane lane, EntryIndex index) {
  if (Log(lane).IsDecided(index) || std::exchange(Log(lane).BodyOf(index).taken_over, true)) return;
  while (!Log(lane).IsDecided(index) && pilots_.HasAny() && !TryTakeover(lane, index)) {
    // Two takers of one entry must not stop each other for ever.
    const Duration pause = std::min(round_time_.Usual(), kRoundPatienceMin);
    runtime_.Sleep(runtime_.RandomBetween(pause, 4 * pause));
  }
  if (index > Log(lane).base()) Log(lane).BodyOf(index).taken_over = false;
}

bool Copilot::TryTakeover(Lane lane, EntryIndex index) {
  const Record own = Log(lane).RecordOf(index);
  Prepare request{lane, NextBallot(lane, index), index, own.kind != Record::Kind::kNone,
                  own.initial};
  auto promises = AskForPromises(request);
  if (Log(lane).IsDecided(index)) return true;
  if (promises.empty()) return false;
  const PrepareReply& latest = Latest(promises);
  // Rivals count from the initial dependency on: ask again once it is known.
  const bool is_proposal = latest.record.kind == Record::Kind::kFastAccepted ||
                           latest.record.kind == Record::Kind::kSuggested;
  if (is_proposal && (!request.knows_initial || latest.record.initial != request.initial)) {
    request = {lane, NextBallot(lane, index), index, true, latest.record.initial};
    promises = AskForPromises(request);
    if (promises.empty()) return false;
  }
  std::vector<Prepared> answers;
  for (const auto& [replica, reply] : promises) {
    answers.push_back({replica, reply.record, reply.rivals, reply.decides});
  }
  const Choice choice = ChooseAfterPrepare(index, answers, Log(Other(lane)).records(), quorums_);
  if (const auto* const first = std::get_if<Undecided>(&choice)) {
    StartTakeover(Other(lane), first->entry);
    Log(Other(lane)).Decided(first->entry)->Wait(RoundPatience());
    return false;
  }
  const PrepareReply& source = Latest(promises);
  const Decided decided{std::get<Value>(choice), source.record.initial, source.origin,
                        source.commands};
  const bool is_committed = source.record.kind == Record::Kind::kCommitted;
  if (!is_committed && !AcceptByMajority(lane, index, request.ballot, decided)) return false;
  DecideAndTell(lane, index, decided);
  return true;
}

Copilot::Promises Copilot::AskForPromises(const Prepare& request) {
  const int self = runtime_.self();
  const PrepareReply own = Promise(request);
  if (!own.promised) return {};
  Broadcast<Prepare> calls(runtime_.rpc(), PeersInReach(), request);
  const auto quorum = QuorumEvent::Majority(runtime_.replicas());
  for (const auto& call : calls.calls()) {
    quorum->Add(call, [this, &answered = *call, lane = request.lane, index = request.index] {
      NoteRefusal(lane, index, answered.reply().ballot);
      if (answered.reply().is_gone) Lacks(lane, index, answered.peer());
      return answered.reply().promised;
    });
  }
  for (int absent = static_cast<int>(calls.size()); absent < runtime_.replicas() - 1; ++absent) {
    quorum->VoteLost(absent);
  }
  journal_.WhenDurable([quorum, last = runtime_.replicas() - 1] { quorum->VoteYes(last); });
  AwaitMajority(*quorum);
  Promises promises;
  if (quorum->Ready()) promises.emplace_back(self, own);
  for (const auto& call : calls.calls()) {
    if (!quorum->Ready() || !call->IsReady() || !call->reply().promised) continue;
    promises.emplace_back(call->peer(), call->reply());
  }
  calls.Release();
  return promises;
}

PrepareReply Copilot::Promise(const Prepare& request) {
  const auto& [lane, ballot, index, knows_initial, initial] = request;
  LaneLog& log = Log(lane);
  PrepareReply reply;
  const bool knows_view = pilots_.Know(lane, ViewOf(ballot));
  reply.ballot = PromisedOf(lane, index);
  reply.is_gone = index <= log.base();
  if (!knows_view || reply.is_gone || reply.ballot >= ballot) return reply;
  const LaneLog::Body& body = log.BodyOf(index);
  Record record = log.RecordOf(index);
  reply.promised = true;
  reply.ballot = ballot;
  reply.record = record;
  reply.decides = record.kind != Record::Kind::kNone && pilots_.HasHad(lane, ViewOf(record.ballot));
  reply.origin = body.origin.value_or(0);
  reply.commands = body.commands;
  if (knows_initial) reply.rivals = RivalsOf(index, initial, Log(Other(lane)).records());
  if (record.kind == Record::Kind::kCommitted) return reply;
  record.promised = ballot;
  log.Set(index, record);
  journal_.WriteRecord(lane, index, log);
  return reply;
}

// The answer whose value counts: a commit, else what was accepted at the highest ballot, else the
// latest proposal.
const PrepareReply& Copilot::Latest(const Promises& promises) {
  const auto rank = [](const auto& each) {
    const Record& record = each.second.record;
    const bool is_settled = record.kind >= Record::Kind::kAccepted;
    const int kind =
        is_settled ? static_cast<int>(record.kind) : record.kind != Record::Kind::kNone;
    return std::tuple(kind == static_cast<int>(Record::Kind::kCommitted), is_settled, record.ballot,
                      kind);
  };
  return std::ranges::max_element(promises, {}, rank)->second;
}

void Copilot::NoteRefusal(Lane lane, EntryIndex index, Ballot promised) {
  pilots_.Know(lane, ViewOf(promised));
  if (index <= Log(lane).base()) return;
  Ballot& refused = Log(lane).BodyOf(index).refused;
  refused = std::max(refused, promised);
}

// The next ballot that is ours alone, above all that we know of.
Ballot Copilot::NextBallot(Lane lane, EntryIndex index) {
  const auto replicas = static_cast<Ballot>(runtime_.replicas());
  const Ballot first = FirstBallot(pilots_.view(lane));
  const Ballot above = std::max(PromisedOf(lane, index), Log(lane).BodyOf(index).refused);
  const Ballot turn = (std::max(above, first) - first) / replicas + 1;
  return first + turn * replicas + static_cast<Ballot>(runtime_.self());
}

// ---- pilots ----

PerLane Copilot::DecidedUpTo() const { return {logs_[0].decided(), logs_[1].decided()}; }

void Copilot::OnElected(Lane lane, EntryIndex latest) {
  for (EntryIndex index = Log(lane).decided() + 1; index <= latest; ++index) {
    StartTakeover(lane, index);
  }
  StartProposing(lane, latest);
}

void Copilot::OnDeposed(Lane) {
  std::vector<std::uint64_t> refused;
  for (const Pending& each : std::exchange(pending_, {})) refused.push_back(each.command.name);
  for (const std::uint64_t name : refused) Answer(name, SubmitStatus::kNotProposer, {});
  while (!waiting_.empty()) Answer(waiting_.begin()->first, SubmitStatus::kUnknown, {});
  has_pending_->Set(true);  // the loop ends
  our_turn_->Set(true);
  round_ended_->Set(true);
}

void Copilot::OnHeartbeat(PeerId from, const PerLane& decided, const PerLane& ran_everywhere) {
  for (const Lane lane : kLanes) {
    if (At(decided, lane) > Log(lane).decided()) Lacks(lane, At(decided, lane), from);
  }
  Truncate(ran_everywhere);
}

// ---- replicas that have fallen behind ----

void Copilot::Lacks(Lane lane, EntryIndex up_to, PeerId peer) {
  At(learn_up_to_, lane) = std::max(At(learn_up_to_, lane), up_to);
  learn_from_ = peer;
  if (!std::exchange(learning_, true)) runtime_.Spawn("learn", [this] { LearnLoop(); });
}

// Asks at its own pace: a slow replica is never sent more than it has asked for.
void Copilot::LearnLoop() {
  runtime_.set_dependency({});  // a background task: no client asked for it
  for (;;) {
    const auto lacking = std::ranges::find_if(
        kLanes, [this](Lane lane) { return Log(lane).decided() < At(learn_up_to_, lane); });
    if (lacking == std::end(kLanes)) break;
    if (LearnSome(learn_from_, *lacking)) continue;
    runtime_.Sleep(kLearnPause);
    do {
      learn_from_ = (learn_from_ + 1) % runtime_.replicas();
    } while (learn_from_ == runtime_.self());
  }
  learning_ = false;
}

bool Copilot::LearnSome(PeerId peer, Lane lane) {
  const EntryIndex first = Log(lane).decided() + 1;
  const auto call = runtime_.rpc().Call(peer, Learn{lane, first});
  const Outcome outcome = call->Wait(kLearnPatience);
  runtime_.rpc().Release(*call);
  if (outcome != Outcome::kReady) return false;
  const LearnReply& reply = call->reply();
  if (reply.base >= first) return FetchWholeSnapshot(peer);
  EntryIndex index = first;
  for (const Decision& decision : reply.decisions) {
    if (!Log(lane).IsDecided(index)) {
      if (!decision.no_op) LearnCommands(lane, index, decision.origin, decision.commands);
      Decide(lane, index, {decision.no_op, decision.dependency});
    }
    ++index;
  }
  return !reply.decisions.empty();
}

LearnReply Copilot::DecisionsFrom(Lane lane, EntryIndex first) {
  LaneLog& log = Log(lane);
  LearnReply reply{log.base(), {}};
  std::size_t bytes = 0;
  for (EntryIndex index = first; index > log.base() && index <= log.decided(); ++index) {
    if (log.IsHidden(index)) break;
    const Record record = log.RecordOf(index);
    const LaneLog::Body& body = log.BodyOf(index);
    Decision decision{record.no_op, record.dependency, body.origin.value_or(0), {}};
    if (!record.no_op) decision.commands = body.commands;
    for (const Command& command : decision.commands) bytes += sizeof(Command) + command.text.size();
    reply.decisions.push_back(std::move(decision));
    if (bytes >= kReplyBytesMax) break;
  }
  return reply;
}

bool Copilot::FetchWholeSnapshot(PeerId peer) {
  FetchSnapshot request;
  std::string bytes;
  do {
    request.offset = bytes.size();
    const auto call = runtime_.rpc().Call(peer, request);
    const Outcome outcome = call->Wait(kLearnPatience);
    runtime_.rpc().Release(*call);
    if (outcome != Outcome::kReady || call->reply().data.empty()) return false;
    const FetchSnapshotReply& reply = call->reply();
    if (!(reply.id == request.id)) bytes.clear();
    request.id = reply.id;
    bytes += reply.data;
  } while (bytes.size() < request.id.bytes);
  const auto snapshot = DecodeSnapshot(bytes);
  if (!snapshot) return false;
  if (snapshot->id.ran[0] < ran_[0] || snapshot->id.ran[1] < ran_[1]) return false;
  Restore(*snapshot);
  for (const Lane lane : kLanes) {
    Log(lane).Reset(At(snapshot->base, lane), At(snapshot->latest_gone, lane));
  }
  journal_.Replace(*snapshot, {pilots_.view(Lane::kPilot), pilots_.view(Lane::kCopilot)}, logs_);
  news_->Set(true);
  return true;
}

FetchSnapshotReply Copilot::PartOfSnapshot(const FetchSnapshot& request) {
  std::uint64_t offset = request.offset;
  if (served_.empty() || !(request.id == served_id_)) {
    StoredSnapshot snapshot = MakeSnapshot();
    served_ = EncodeSnapshot(snapshot);
    served_id_ = snapshot.id;
    served_id_.bytes = served_.size();
    offset = 0;
  }
  if (offset > served_.size()) return {};
  return {served_id_, served_.substr(offset, kReplyBytesMax)};
}

StoredSnapshot Copilot::MakeSnapshot() {
  StoredSnapshot snapshot{{commands_run_, ran_, 0}, CutBefore(ran_), {}, {}};
  for (const Lane lane : kLanes) {
    EntryIndex latest = At(snapshot.base, lane);
    while (latest > Log(lane).base() && Log(lane).RecordOf(latest).no_op) --latest;
    At(snapshot.latest_gone, lane) = latest > Log(lane).base() ? latest : Log(lane).latest_gone();
  }
  snapshot.data = PackState({memory_.Encode(), machine_.Snapshot()});
  return snapshot;
}

void Copilot::Restore(const StoredSnapshot& snapshot) {
  const auto [memory, state] = UnpackState(snapshot.data);
  machine_.Restore(state);
  memory_.Decode(memory);
  commands_run_ = snapshot.id.commands;
  ran_ = snapshot.id.ran;
  ObserveRestore(runtime_, snapshot.id);
}

void Copilot::CompactIfLarge() {
  const std::size_t bytes = logs_[0].bytes() + logs_[1].bytes() + journal_.bytes();
  if (bytes <= compact_above_) return;
  PerLane up_to;
  for (const Lane lane : kLanes) At(up_to, lane) = BeforeRetained(lane);
  Truncate(up_to);
  // What stays is written again: only if it is less than what goes.
  const std::size_t stays = logs_[0].bytes() + logs_[1].bytes();
  if (journal_.bytes() > 2 * stays) {
    journal_.Replace(MakeSnapshot(), {pilots_.view(Lane::kPilot), pilots_.view(Lane::kCopilot)},
                     logs_);
  }
  compact_above_ = std::max(kCompactAboveBytes, stays + journal_.bytes() + kRetainedBytes);
}

// The entry before those that stay for replicas that are a little behind.
EntryIndex Copilot::BeforeRetained(Lane lane) {
  std::size_t kept = 0;
  EntryIndex index = At(ran_, lane);
  for (; index > Log(lane).base() && kept < kRetainedBytes; --index) {
    for (const Command& each : Log(lane).BodyOf(index).commands) {
      kept += sizeof(Command) + each.text.size();
    }
  }
  return index;
}

void Copilot::Truncate(const PerLane& up_to) {
  const PerLane cut = CutBefore(up_to);
  for (const Lane lane : kLanes) {
    if (At(cut, lane) > Log(lane).base()) Log(lane).TruncateUpTo(At(cut, lane));
  }
}

// The latest cut that is not behind `up_to`: no entry before it depends on one behind it. So what
// is thrown away comes before all that is kept.
PerLane Copilot::CutBefore(PerLane up_to) const {
  for (const Lane lane : kLanes) {
    At(up_to, lane) = std::min({At(up_to, lane), At(ran_, lane), Log(lane).decided()});
  }
  PerLane before;
  do {
    before = up_to;
    for (const Lane lane : kLanes) {
      EntryIndex index = Log(lane).base();
      while (index < At(up_to, lane) &&
             Log(lane).RecordOf(index + 1).dependency <= At(up_to, Other(lane))) {
        ++index;
      }
      At(up_to, lane) = index;
    }
  } while (up_to != before);
  return up_to;
}

}  // namespace depfast::copilot
