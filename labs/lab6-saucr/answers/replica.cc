#include "replica.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "saucr_rules.h"

namespace depfast::saucr {

Replica::Replica(Runtime& runtime, StateMachine& machine, const SaucrOptions& options,
                 SaucrHooks& yours)
    : hooks(yours),
      state(runtime, options),
      elections(state, *this),
      snapshots(state, elections, machine),
      commits(state, machine, snapshots),
      leadership(state, elections),
      catch_up(state, elections, snapshots, leadership,
               [this](PeerId peer, const AppendEntriesReply& reply) {
                 const bool accepted = rounds.NoteReply(peer, reply);
                 if (accepted) rounds.Commit();
                 return accepted;
               }),
      rounds(state, elections, leadership, catch_up, commits, yours),
      beats(state, elections, leadership, catch_up, rounds, yours),
      transfer(state, elections, snapshots) {}

// ---- start and stop ----

void Replica::Start() {
  RegisterHandlers();
  state.runtime.rpc().WhenLost([this](PeerId peer) { beats.OnLost(peer); });
  state.runtime.Spawn("start", [this] {
    Recover();
    if (state.is_recovering) hooks.RecoverLle();
    if (state.is_recovering) return;
    beats.Begin();
    elections.Loop();
  });
}

void Replica::RegisterHandlers() {
  Serve<AppendEntries>([this](const AppendEntries& request) { return OnAppendEntries(request); });
  Serve<InstallSnapshot>(
      [this](const InstallSnapshot& request) { return snapshots.OnInstallSnapshot(request); });
  Serve<FetchLog>([this](const FetchLog& request) { return transfer.OnFetchLog(request); });
  state.runtime.rpc().Handle<RequestVote>([this](PeerId, const RequestVote& request) {
    started->Wait();
    return elections.OnRequestVote(request);
  });
  state.runtime.rpc().Handle<LleQuery>([this](PeerId, const LleQuery& query) {
    started->Wait();
    if (query.lives.size() != state.lives.size()) {
      throw std::invalid_argument("lives of another length");
    }
    return hooks.OnLleQuery(query);
  });
}

template <typename Request>
void Replica::Serve(std::function<typename Request::Reply(const Request&)> handler) {
  state.runtime.rpc().HandleInline<Request>(
      [this, handler = std::move(handler)](Request&& request,
                                           const Responder<typename Request::Reply>& responder) {
        if (!started->IsReady() || state.is_recovering) {
          unanswered = {request.term, request.leader, state.runtime.Now()};
          return;
        }
        if constexpr (requires { request.lives; }) {
          if (request.lives.size() != state.lives.size() ||
              request.map.size() != state.map.size()) {
            throw std::invalid_argument("a map, or lives, of another length");
          }
        }
        state.runtime.Spawn(Request::kName,
                            [this, handler, responder, request = std::move(request)] {
                              state.runtime.set_dependency(responder.dependency());
                              responder.Send(handler(request));
                            });
      });
}

void Replica::Recover() {
  DiskJournal::Recovered disk = state.journal.Recover();
  elections.Recover(disk.wal.hard_state);
  state.Recover(std::move(disk.wal));
  snapshots.Recover(std::move(disk.snapshot));
  state.is_recovering = !IsOnDisk(state.journal.markers());
  ObserveRole(state.runtime, elections.term(), elections.role());
  ObserveRecovery(state.runtime, state.is_recovering ? Recovery::kRecovering : Recovery::kOnDisk,
                  state.last());
  if (!state.is_recovering) elections.Begin(unanswered);
  started->Add();
}

void Replica::SetRecovered(EntryId lle) {
  state.is_recovering = false;
  state.recovered = state.last() >= lle ? EntryId() : lle;
  ObserveRecovery(state.runtime, Recovery::kRecovered, std::max(lle, state.last()));
  if (!elections.leads()) elections.Begin(unanswered);
}

void Replica::Stop() {
  if (started->IsReady() && !state.is_recovering) beats.BeginSilence();
}

// ---- the leader's side ----

void Replica::OnElected(const std::vector<Vote>& votes) {
  leadership.Begin();
  std::vector<PeerId> voters;
  std::vector<LleMap> maps;
  for (const Vote& vote : votes) {
    voters.push_back(vote.voter);
    maps.push_back(vote.map);
  }
  hooks.OnElected(maps);
  const std::uint64_t term = elections.term();
  beats.Lead(term);
  state.runtime.Spawn("open", [this, term, voters] { OpenTerm(term, voters); });
}

void Replica::OpenTerm(std::uint64_t term, const std::vector<PeerId>& voters) {
  state.runtime.set_dependency({});
  const bool has_data = state.is_whole() || hooks.RecoverData();
  if (!elections.Leads(term)) return;
  has_data ? rounds.Open(voters) : elections.Follow(term);
}

// ---- the follower's side ----

AppendEntriesReply Replica::OnAppendEntries(const AppendEntries& request) {
  AppendEntriesReply reply = Refuse(0);
  if (request.term >= elections.term()) {
    elections.HearLeader(request.term, request.leader);
    rounds.MergeLives(request.lives);
    const EntryIndex conflict = request.beat ? 0 : state.ConflictWith(request.prev);
    if (conflict == 0) {
      if (!request.beat) state.agreed = std::max(state.agreed, request.prev.index);
      commits.UpTo(std::min(request.leader_commit, state.agreed));
      reply = hooks.TakeEntries(request);
    } else {
      reply = Refuse(conflict);
    }
  }
  elections.AwaitTerm();  // the answer names our term
  if (elections.term() != request.term) return Refuse(state.commit_index + 1);
  reply.term = elections.term();
  return reply;
}

AppendEntriesReply Replica::Refuse(EntryIndex conflict) const {
  return {elections.term(), false, 0, 0, conflict, state.life(), state.lives};
}

std::vector<EntryId> Replica::AppendNew(const AppendEntries& request) {
  const auto appended = state.AppendFrom(request.prev.index + 1, request.entries);
  state.agreed = std::max(state.agreed, request.Last());
  commits.UpTo(std::min(request.leader_commit, state.agreed));
  return appended;
}

AppendEntriesReply Replica::Answer(EntryIndex match) const {
  const EntryIndex durable = std::min(match, state.journal.durable_index());
  return {elections.term(), true, match, durable, 0, state.life(), state.lives};
}

}  // namespace depfast::saucr
