#include "saucr.h"

#include <deque>
#include <map>
#include <ranges>
#include <utility>

#include "depfast/compound_event.h"
#include "quorum_event.h"

namespace depfast::saucr {

// ---- 6A: modes and switching ----

void Saucr::Replicate(const Round& round) {
  const PeerId self = runtime().self();
  std::vector<PeerId> named = round.named;
  named.push_back(self);
  map() = MapOfRound(map(), last(), named);
  journal().WriteEntries(log(), round.first);
  std::vector<EntryId> ids;
  for (EntryIndex index = round.first; index < round.end; ++index) {
    ids.push_back({log().TermAt(index), index});
  }
  const auto own = Keep(mode().mode, ids);
  const Broadcast<AppendEntries> calls(runtime().rpc(), round.named, MakeRound(round));

  // Two quorums over the same calls: memories, and disks (R3).
  const auto in_memories = std::make_shared<QuorumEvent>(quorums().fast(), runtime().replicas());
  const auto on_disks = QuorumEvent::Majority(runtime().replicas());
  for (const auto& call : calls.calls()) {
    in_memories->Add(call, [this, last = round.last(), &answered = *call] {
      return NoteReply(answered.peer(), answered.reply()) && answered.reply().match >= last;
    });
    on_disks->Add(call, [last = round.last(), &answered = *call] {
      return answered.reply().durable >= last;
    });
  }
  // Our own part is an answer like any other.
  in_memories->Add(own,
                   [this, self, last = round.last()] { return NoteReply(self, Answer(last)); });
  on_disks->Add(own, [this, last = round.last()] { return journal().durable_index() >= last; });

  OrEvent::Of({in_memories, on_disks, round.is_over})->Wait(kRoundPatience);
  AdvanceCommit(CommittedUpTo(term_began_at(), acks(), lives(), quorums()));
  ReleaseLater(calls);
}

AppendEntriesReply Saucr::TakeEntries(const AppendEntries& request) {
  const auto appended = AppendNew(request);
  map() = Merged(map(), request.map);
  if (request.beat) {
    // A leader in slow mode has no faith in memories. Its beat is answered at once.
    if (request.mode == Mode::kSlow) Flush();
  } else {
    Keep(request.mode, appended)->Wait();
  }
  return Answer(request.Last());
}

std::shared_ptr<Event> Saucr::Keep(Mode mode, const std::vector<EntryId>& appended) {
  return mode == Mode::kFast ? Mark(appended) : Flush();
}

void Saucr::OnBeat(int functional) {
  const Mode before = mode().mode;
  SetMode(NextMode(mode(), functional, quorums()));
  if (before == Mode::kSlow || mode().mode == Mode::kFast) return;
  Flush();
  AskAllToFlush();
}

void Saucr::OnSilence() { Flush(); }

// ---- 6B: markers and maps ----

std::shared_ptr<Event> Saucr::Mark(const std::vector<EntryId>& appended) {
  const auto first = FastSwitch(journal().markers(), appended);
  if (first) return journal().WriteFastSwitch(*first);
  // With D written, and not behind F, no marker protects what this replica has in memory: its
  // entries are older than D, or on their way to the disk.
  return IsOnDisk(journal().markers()) ? journal().Sync() : journal().MarkerDurable();
}

std::shared_ptr<Event> Saucr::Flush() {
  // D's record comes behind the entries in the same file. Later entries come behind D (R12).
  if (const auto latest = LatestOnDisk(journal().markers(), last(), recovered())) {
    journal().WriteLatestOnDisk(*latest, map());
  }
  return journal().Sync();
}

void Saucr::FlushInBackground() { journal().Sync(); }

// ---- 6C: recovery ----

namespace {

// The answers to the queries, by replica, of those that are not recovering.
std::map<PeerId, LleReply> AnswersTo(const std::deque<Broadcast<LleQuery>>& queries) {
  std::map<PeerId, LleReply> answers;
  for (const auto& query : queries) {
    for (const auto& call : query.calls()) {
      if (call->IsReady() && call->reply().recovered) answers[call->peer()] = call->reply();
    }
  }
  return answers;
}

}  // namespace

void Saucr::RecoverLle() {
  Lives next = lives();
  ++next[static_cast<std::size_t>(runtime().self())];
  MergeLives(next);
  journal().WriteLives(lives())->Wait();  // before anybody may answer (R17)
  // An answer of a slow disk comes after we have asked again, and still counts.
  constexpr std::size_t kQueriesMax = 20;
  std::deque<Broadcast<LleQuery>> queries;
  for (;;) {
    queries.emplace_back(runtime().rpc(), runtime().peers(), LleQuery{life(), lives()});
    const auto enough = std::make_shared<QuorumEvent>(quorums().minority(),
                                                      static_cast<int>(runtime().peers().size()));
    for (const auto& call : queries.back().calls()) {
      enough->Add(call, [&answered = *call] { return answered.reply().recovered; });
    }
    if (enough->Wait(kLleRetry) == Outcome::kFailed) runtime().Sleep(kLleRetry);
    std::vector<LleMap> maps;
    const auto answers = AnswersTo(queries);
    for (const auto& [replica, answer] : answers) maps.push_back(answer.map);
    if (const auto lle = RecoveredLle(runtime().self(), last(), maps, quorums())) {
      for (const auto& [replica, answer] : answers) {
        map() = Merged(map(), answer.map);
        MergeLives(answer.lives);
      }
      SetRecovered(*lle);
      break;
    }
    if (queries.size() == kQueriesMax) {
      queries.front().Release();
      queries.pop_front();
    }
  }
  for (auto& query : queries) query.Release();
}

LleReply Saucr::OnLleQuery(const LleQuery& query) {
  if (is_recovering()) return {};
  MergeLives(query.lives);
  // Otherwise a later crash of ours could bring an acknowledgement of the earlier life to count.
  journal().WriteLives(lives())->Wait();
  return {true, last(), map(), lives()};
}

void Saucr::OnElected(const std::vector<LleMap>& maps) {
  for (const LleMap& each : maps) map() = Merged(map(), each);
}

bool Saucr::RecoverData() {
  const std::uint64_t own_term = term();
  const Time limit = runtime().Now() + election_timeout();
  // A distant replica answers after we have asked again. In our term its answer still counts.
  std::vector<Broadcast<FetchLog>> questions;
  while (Leads(own_term) && runtime().Now() < limit) {
    if (is_whole()) return true;
    questions.push_back(AskForLogs());
    const auto choice = FindData(questions);
    if (!choice || !Leads(own_term)) continue;
    if (choice->kind == DataChoice::Kind::kTake && !AdoptLog(choice->from)) continue;
    SetRecovered({});  // nothing behind this log was committed
    return true;
  }
  return false;
}

std::optional<DataChoice> Saucr::FindData(const std::vector<Broadcast<FetchLog>>& questions) {
  std::map<PeerId, LogAnswer> by_replica;
  const auto choose = [&] {
    const auto answers = std::views::values(by_replica);
    return ChooseData(last(), recovered(), {answers.begin(), answers.end()}, quorums());
  };
  const std::size_t calls = questions.size() * runtime().peers().size();
  const auto found = std::make_shared<QuorumEvent>(1, static_cast<int>(calls));
  for (const auto& question : questions) {
    for (const auto& call : question.calls()) {
      found->Add(call, [this, &by_replica, &choose, &answered = *call] {
        const FetchLogReply& reply = answered.reply();
        if (reply.term != term()) return false;
        by_replica[answered.peer()] = {answered.peer(), reply.last, reply.is_whole};
        return choose().kind != DataChoice::Kind::kAskMore;
      });
    }
  }
  const Outcome outcome = found->Wait(kLleRetry);
  if (outcome == Outcome::kFailed) runtime().Sleep(kLleRetry);
  return outcome == Outcome::kReady ? std::optional(choose()) : std::nullopt;
}

}  // namespace depfast::saucr
