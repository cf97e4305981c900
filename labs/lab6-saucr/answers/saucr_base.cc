#include "saucr_base.h"

#include <utility>

#include "replica.h"

namespace depfast::saucr {
namespace {

// A follower that does not answer a round, or a special request, in this time falls behind.
constexpr Duration kStragglerGrace = 100ms;

}  // namespace

SaucrBase::SaucrBase(Runtime& runtime, StateMachine& machine, SaucrOptions options)
    : replica_(
          std::make_unique<Replica>(runtime, machine, options, static_cast<SaucrHooks&>(*this))) {}

SaucrBase::~SaucrBase() = default;

// ---- clients ----

void SaucrBase::Start() { replica_->Start(); }

void SaucrBase::Submit(std::string command, const Dependency& client, SubmitDone done) {
  replica_->rounds.Submit(std::move(command), client, std::move(done));
}

void SaucrBase::ReadIndex(const Dependency& client, ReadDone done) {
  replica_->rounds.ReadIndex(client, std::move(done));
}

std::vector<PeerId> SaucrBase::proposers() const {
  const PeerId leader = replica_->elections.leader();
  return leader == kNobody ? std::vector<PeerId>() : std::vector<PeerId>{leader};
}

void SaucrBase::Stop() { replica_->Stop(); }

// ---- what this replica has ----

Runtime& SaucrBase::runtime() { return replica_->state.runtime; }
const Quorums& SaucrBase::quorums() const { return replica_->state.quorums; }
const RaftLog& SaucrBase::log() const { return replica_->state.log; }
EntryId SaucrBase::last() const { return replica_->state.last(); }
Journal& SaucrBase::journal() { return replica_->state.journal; }
LleMap& SaucrBase::map() { return replica_->state.map; }
const Lives& SaucrBase::lives() const { return replica_->state.lives; }
Life SaucrBase::life() const { return replica_->state.life(); }
void SaucrBase::MergeLives(const Lives& told) { replica_->rounds.MergeLives(told); }
bool SaucrBase::is_recovering() const { return replica_->state.is_recovering; }
EntryId SaucrBase::recovered() const { return replica_->state.recovered; }
bool SaucrBase::is_whole() const { return replica_->state.is_whole(); }
void SaucrBase::SetRecovered(EntryId lle) { replica_->SetRecovered(lle); }

// ---- acknowledgements ----

std::vector<EntryId> SaucrBase::AppendNew(const AppendEntries& request) {
  return replica_->AppendNew(request);
}

AppendEntriesReply SaucrBase::Answer(EntryIndex match) const { return replica_->Answer(match); }

// ---- a leader's rounds ----

bool SaucrBase::Leads(std::uint64_t term) const { return replica_->elections.Leads(term); }
std::uint64_t SaucrBase::term() const { return replica_->elections.term(); }
Duration SaucrBase::election_timeout() const { return replica_->state.election_timeout_max; }
const ModeState& SaucrBase::mode() const { return replica_->leadership.mode(); }
void SaucrBase::SetMode(const ModeState& mode) { replica_->leadership.SetMode(mode); }

AppendEntries SaucrBase::MakeRound(const Round& round) const {
  return replica_->leadership.MakeAppend(round.first, round.end);
}

void SaucrBase::AskAllToFlush() {
  const Leadership& leadership = replica_->leadership;
  const EntryIndex end = replica_->state.last_index() + 1;
  ReleaseLater(
      {runtime().rpc(), leadership.followers().InRounds(), leadership.MakeAppend(end, end)});
  runtime().Spawn("own part", [this, own = journal().latest_sync()] {
    own->Wait();
    replica_->rounds.Commit();
  });
}

bool SaucrBase::NoteReply(PeerId peer, const AppendEntriesReply& reply) {
  return replica_->rounds.NoteReply(peer, reply);
}

const std::vector<Acks>& SaucrBase::acks() const { return replica_->leadership.followers().acks(); }
EntryIndex SaucrBase::term_began_at() const { return replica_->leadership.term_began_at(); }
void SaucrBase::AdvanceCommit(EntryIndex index) { replica_->rounds.AdvanceCommit(index); }

void SaucrBase::ReleaseLater(const Broadcast<AppendEntries>& calls) {
  replica_->rounds.NoteAnswers(calls, kStragglerGrace, /*fall_behind=*/true);
}

// ---- a leader's data ----

Broadcast<FetchLog> SaucrBase::AskForLogs() { return replica_->transfer.AskForLogs(); }
bool SaucrBase::AdoptLog(PeerId from) { return replica_->transfer.AdoptLog(from); }

}  // namespace depfast::saucr
