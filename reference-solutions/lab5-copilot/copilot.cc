#include "copilot.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "depfast/compound_event.h"
#include "depfast/timeout_event.h"
#include "quorum_event.h"
#include "settled_event.h"

namespace depfast::copilot {

// ---- a pilot's rounds ----

void Copilot::Propose(const FastAccept& proposal) {
  const Lane lane = proposal.lane;
  const EntryIndex index = proposal.index;
  const auto own = RecordProposal(proposal);
  if (!own) return;
  Broadcast<FastAccept> calls(runtime().rpc(), PeersInReach(), proposal);
  const Round round = VotesOn(calls, proposal, *own);

  // One wait for both paths: a majority orders the entry, and the fast path is decided or late.
  const auto fast_is_over =
      OrEvent::Of({SettledEvent::Of(round.fast), TimeoutEvent::After(kFastPatience)});
  AwaitMajority(*AndEvent::Of({round.ordered, fast_is_over}));
  ReleaseLater(calls);

  const auto is_ours = [&] {
    return pilots().Has(lane) && !Log(lane).IsDecided(index) &&
           Log(lane).RecordOf(index).promised == FirstBallot(proposal.view);
  };
  Decided decided{
      {.dependency = proposal.dependency}, proposal.dependency, proposal.view, proposal.commands};
  if (is_ours() && round.fast->Ready()) {
    DecideFast(lane, index, decided, *round.witness_accepted);
  } else if (is_ours() && round.ordered->Ready()) {
    decided.value.dependency = SlowDependency(*round.dependencies, quorums());
    if (AcceptByMajority(lane, index, FirstBallot(proposal.view), decided) && is_ours()) {
      DecideAndTell(lane, index, decided);
    }
  }
}

Copilot::Round Copilot::VotesOn(const Broadcast<FastAccept>& calls, const FastAccept& proposal,
                                EntryIndex own) {
  const int replicas = runtime().replicas();
  Round round{std::make_shared<QuorumEvent>(quorums().fast(), replicas),
              QuorumEvent::Majority(replicas), std::make_shared<std::vector<EntryIndex>>(),
              std::make_shared<bool>(false)};
  for (const auto& call : calls.calls()) {
    round.fast->Add(call, [&answered = *call, proposed = proposal.dependency,
                           witness = proposal.witness, accepted = round.witness_accepted] {
      const bool yes = answered.reply().recorded && answered.reply().dependency == proposed;
      if (yes && answered.peer() == witness) *accepted = true;
      return yes;
    });
    round.ordered->Add(call, [this, &answered = *call, lane = proposal.lane,
                              begin = runtime().Now(), dependencies = round.dependencies] {
      const FastAcceptReply& reply = answered.reply();
      if (!NoteReply(lane, reply)) return false;
      dependencies->push_back(reply.dependency);
      // The time that a majority takes: that of a slow replica is no measure for a timeout.
      if (std::ssize(*dependencies) == quorums().majority()) NoteRound(runtime().Now() - begin);
      return true;
    });
  }
  journal().WhenDurable([dependencies = round.dependencies, own] { dependencies->push_back(own); });
  CountTheRest(round.fast, calls, own == proposal.dependency);
  CountTheRest(round.ordered, calls);
  return round;
}

void Copilot::CountTheRest(const std::shared_ptr<QuorumEvent>& quorum, const BroadcastCalls& calls,
                           bool yes) {
  const int own = runtime().replicas() - 1;
  for (int absent = static_cast<int>(calls.size()); absent < own; ++absent) {
    quorum->VoteLost(absent);
  }
  journal().WhenDurable([quorum, own, yes] { yes ? quorum->VoteYes(own) : quorum->VoteNo(own); });
}

bool Copilot::AcceptByMajority(Lane lane, EntryIndex index, Ballot ballot, const Decided& value) {
  const Accept request{
      lane,         ballot,        index, value.value.no_op, value.initial, value.value.dependency,
      value.origin, value.commands};
  if (!RecordAccept(request)) return false;
  Broadcast<Accept> calls(runtime().rpc(), PeersInReach(), request);
  const int replicas = runtime().replicas();
  const auto quorum = QuorumEvent::Majority(replicas);
  // After so many refusals all others must accept, a slow one too: they get no more than a taker.
  const auto refused = std::make_shared<QuorumEvent>(replicas - quorums().majority(), replicas);
  for (const auto& call : calls.calls()) {
    quorum->Add(call, [this, lane, index, &answered = *call] {
      NoteRefusal(lane, index, answered.reply().promised);
      return answered.reply().accepted;
    });
    refused->Add(call, [&answered = *call] { return !answered.reply().accepted; });
  }
  CountTheRest(quorum, calls);
  const auto is_over = SettledEvent::Of(quorum);
  AwaitMajority(*OrEvent::Of({is_over, refused}));
  if (refused->Ready()) is_over->Wait(TakeoverPatience());
  ReleaseLater(calls);
  return quorum->Ready();
}

// ---- every replica's votes ----

namespace {

// See Record::least. A later proposal or Accept must not end a refusal, nor one by a promise.
EntryIndex LeastBefore(const Record& before) {
  if (before.kind != Record::Kind::kNone) return before.least;
  return IsTakeover(before.promised) ? 0 : std::numeric_limits<EntryIndex>::max();
}

}  // namespace

std::optional<EntryIndex> Copilot::RecordProposal(const FastAccept& request) {
  const auto& [lane, view, index, dependency, witness, commands] = request;
  LaneLog& log = Log(lane);
  if (!pilots().Hear(lane, view) || log.IsDecided(index)) return std::nullopt;
  const Ballot ballot = FirstBallot(view);
  const Record before = log.RecordOf(index);
  if (before.promised > ballot || before.kind == Record::Kind::kAccepted) return std::nullopt;
  if (before.kind != Record::Kind::kNone && before.ballot == ballot) return before.dependency;
  const auto suggestion = Suggestion(index, dependency, Log(Other(lane)).records());
  const auto kind = suggestion ? Record::Kind::kSuggested : Record::Kind::kFastAccepted;
  log.SetCommands(index, view, commands);
  log.Set(index, {kind, false, ballot, ballot, dependency, suggestion.value_or(dependency), witness,
                  std::min(dependency, LeastBefore(before))});
  journal().WriteEntry(lane, index, log);
  return suggestion.value_or(dependency);
}

bool Copilot::RecordAccept(const Accept& request) {
  const auto& [lane, ballot, index, no_op, initial, dependency, origin, commands] = request;
  LaneLog& log = Log(lane);
  // A late Accept may ask for another value than a taker has decided since.
  if (!pilots().Know(lane, ViewOf(ballot)) || log.IsDecided(index)) return false;
  const Record before = log.RecordOf(index);
  if (before.promised > ballot) return false;
  if (!no_op) log.SetCommands(index, origin, commands);
  const EntryIndex known = before.kind == Record::Kind::kNone ? initial : before.initial;
  log.Set(index, {Record::Kind::kAccepted, no_op, ballot, ballot, known, dependency, before.witness,
                  std::min(known, LeastBefore(before))});
  journal().WriteEntry(lane, index, log);
  return true;
}

// ---- execution ----

void Copilot::RunEntries() {
  for (;;) {
    const Next next = NextToRun(NextDecision(Lane::kPilot), RanUpTo(Lane::kPilot),
                                NextDecision(Lane::kCopilot), RanUpTo(Lane::kCopilot));
    if (next == Next::kNothing) {
      AwaitNext();
    } else {
      Run(next == Next::kPilot ? Lane::kPilot : Lane::kCopilot);
    }
  }
}

void Copilot::Run(Lane lane) {
  for (const Command& command : BeginEntry(lane)) {
    if (command.text.empty()) {
      Answer(command.name, SubmitStatus::kCommitted, {});  // a read
    } else if (!HasRun(command)) {                         // it may have come by the other lane
      Apply(command);
    }
  }
  EndEntry();
}

// Waits for one event per entry (document 002, figure 4): those of the next entries that are not
// decided yet. A pilot's wait ends when it takes the entry over.
void Copilot::AwaitNext() {
  const auto any = OrEvent::Of({News()});
  for (const Lane lane : kLanes) {
    const EntryIndex next = NextToRunIn(lane);
    if (!Log(lane).IsDecided(next)) any->Add(Log(lane).Decided(next));
  }
  const auto waited = WaitedFor();
  if (!waited) {
    any->Wait();
    return;
  }
  const auto [lane, last] = *waited;
  const EntryIndex next = NextToRunIn(lane);
  if (std::exchange(waits_for_, {lane, next}) != std::pair{lane, next}) {
    waits_since_ = runtime().Now();
  }
  const Time limit = waits_since_ + TakeoverPatience();
  const bool is_late = runtime().Now() >= limit;
  if (is_late) {
    // Later entries are late, too, and all of them are taken over at once.
    const EntryIndex latest = std::max(last, Log(lane).latest_known());
    for (EntryIndex index = next; index <= latest; ++index) StartTakeover(lane, index);
  }
  any->Wait(is_late ? kForever : limit - runtime().Now());
}

std::optional<std::pair<Lane, EntryIndex>> Copilot::WaitedFor() const {
  const auto ours = OwnLane();
  const auto next = ours ? NextDecision(*ours) : std::nullopt;
  if (!next || next->dependency <= RanUpTo(Other(*ours))) return std::nullopt;
  return std::pair{Other(*ours), next->dependency};
}

// ---- takeover ----

Copilot::Promises Copilot::AskForPromises(const Prepare& request) {
  const int self = runtime().self();
  const PrepareReply own = Promise(request);
  if (!own.promised) return {};
  Broadcast<Prepare> calls(runtime().rpc(), PeersInReach(), request);
  const int replicas = runtime().replicas();
  const auto quorum = QuorumEvent::Majority(replicas);
  // After so many refusals all others must promise, a slow one too: better ask at a higher ballot.
  const auto refused = std::make_shared<QuorumEvent>(replicas - quorums().majority(), replicas);
  for (const auto& call : calls.calls()) {
    quorum->Add(call, [this, &answered = *call, lane = request.lane, index = request.index] {
      NoteRefusal(lane, index, answered.reply().ballot);
      if (answered.reply().is_gone) Lacks(lane, index, answered.peer());
      return answered.reply().promised;
    });
    refused->Add(call, [&answered = *call] { return !answered.reply().promised; });
  }
  const auto own_is_durable = std::make_shared<bool>(false);
  journal().WhenDurable([own_is_durable] { *own_is_durable = true; });
  CountTheRest(quorum, calls);
  AwaitMajority(*OrEvent::Of({SettledEvent::Of(quorum), refused}));
  Promises promises;
  if (quorum->Ready() && *own_is_durable) promises.emplace_back(self, own);
  for (const auto& call : calls.calls()) {
    if (!quorum->Ready() || !call->IsReady() || !call->reply().promised) continue;
    promises.emplace_back(call->peer(), call->reply());
  }
  calls.Release();
  return promises;
}

namespace {

bool IsProposal(const Record& record) {
  return record.kind == Record::Kind::kFastAccepted || record.kind == Record::Kind::kSuggested;
}

// Behind which dependency the answer with this record names rivals; nothing if it names none.
std::optional<EntryIndex> RivalsBehind(const Prepare& request, const Record& record) {
  if (request.knows_initial) return request.initial;
  return IsProposal(record) ? std::optional(record.initial) : std::nullopt;
}

}  // namespace

PrepareReply Copilot::Promise(const Prepare& request) {
  const auto& [lane, ballot, index, knows_initial, initial] = request;
  LaneLog& log = Log(lane);
  PrepareReply reply;
  const bool knows_view = pilots().Know(lane, ViewOf(ballot));
  reply.ballot = PromisedOf(lane, index);
  reply.is_gone = index <= log.base();
  if (!knows_view || reply.is_gone || reply.ballot >= ballot) return reply;
  const LaneLog::Body& body = log.BodyOf(index);
  Record record = log.RecordOf(index);
  reply.promised = true;
  reply.ballot = ballot;
  reply.record = record;
  reply.decides =
      record.kind != Record::Kind::kNone && pilots().HasHad(lane, ViewOf(record.ballot));
  reply.origin = body.origin.value_or(0);
  reply.commands = body.commands;
  if (const auto behind = RivalsBehind(request, record)) {
    reply.rivals = RivalsOf(index, *behind, Log(Other(lane)).records());
  }
  if (record.kind == Record::Kind::kCommitted) return reply;
  record.promised = ballot;
  record.least = 0;
  log.Set(index, record);
  journal().WriteRecord(lane, index, log);
  return reply;
}

namespace {

// The answer whose value counts: a commit, else what was accepted at the highest ballot, else the
// latest proposal.
const PrepareReply& Latest(const std::vector<std::pair<PeerId, PrepareReply>>& promises) {
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

// Whether the others' answers name all rivals, if a proposal is what counts.
bool KnowRivals(const std::vector<std::pair<PeerId, PrepareReply>>& promises,
                const Prepare& request, PeerId self) {
  const Record& latest = Latest(promises).record;
  return !IsProposal(latest) || std::ranges::all_of(promises, [&](const auto& each) {
    const auto& [replica, reply] = each;
    return replica == self || RivalsBehind(request, reply.record) == latest.initial;
  });
}

}  // namespace

bool Copilot::TryTakeover(Lane lane, EntryIndex index) {
  const PeerId self = runtime().self();
  const Record own = Log(lane).RecordOf(index);
  Prepare request{lane, NextBallot(lane, index), index, own.kind != Record::Kind::kNone,
                  own.initial};
  auto promises = AskForPromises(request);
  // Rivals count from the initial dependency on. Another one may come up: ask again for its rivals.
  while (!Log(lane).IsDecided(index) && !promises.empty() && !KnowRivals(promises, request, self)) {
    request = {lane, NextBallot(lane, index), index, true, Latest(promises).record.initial};
    promises = AskForPromises(request);
  }
  if (Log(lane).IsDecided(index)) return true;
  if (promises.empty()) return false;
  const PrepareReply& source = Latest(promises);
  const Records others = Log(Other(lane)).records();
  std::vector<Prepared> answers;
  for (const auto& [replica, reply] : promises) {
    // Our own rivals: those that we know of now.
    const auto rivals =
        replica == self ? RivalsOf(index, source.record.initial, others) : reply.rivals;
    answers.push_back({replica, reply.record, rivals, reply.decides});
  }
  const Choice choice = ChooseAfterPrepare(index, answers, others, quorums());
  if (const auto* const first = std::get_if<Undecided>(&choice)) {
    StartTakeover(Other(lane), first->entry);
    Log(Other(lane)).Decided(first->entry)->Wait(kRoundPatience);
    return false;
  }
  const Value value = std::get<Value>(choice);
  const Decided decided{value, source.record.initial, source.origin,
                        value.no_op ? Commands() : source.commands};
  const bool is_committed = source.record.kind == Record::Kind::kCommitted;
  if (!is_committed && !AcceptByMajority(lane, index, request.ballot, decided)) return false;
  DecideAndTell(lane, index, decided);
  return true;
}

}  // namespace depfast::copilot
