#include "beats.h"

namespace depfast::saucr {

Beats::Beats(ReplicaState& state, Elections& elections, Leadership& leadership, CatchUp& catch_up,
             Rounds& rounds, SaucrHooks& hooks)
    : state_(state),
      elections_(elections),
      leadership_(leadership),
      catch_up_(catch_up),
      rounds_(rounds),
      hooks_(hooks) {}

void Beats::Begin() {
  state_.runtime.Spawn("silence", [this] { SilenceLoop(); });
  state_.runtime.Spawn("flush", [this] { FlushLoop(); });
}

// ---- a leader's beats ----

void Beats::Lead(std::uint64_t term) {
  state_.runtime.Spawn("beats", [this, term] { BeatLoop(term); });
}

void Beats::BeatLoop(std::uint64_t term) {
  Runtime& runtime = state_.runtime;
  runtime.set_dependency(Dependency::Heartbeat());
  while (elections_.Leads(term)) {
    Broadcast<AppendEntries> calls(runtime.rpc(), runtime.peers(), leadership_.MakeBeat());
    leadership_.followers().SentBeat(calls);
    // A distant follower's answer is late, not lost, and may bring a newer term.
    rounds_.NoteAnswers(calls, state_.election_timeout_max, /*fall_behind=*/false);
    runtime.Sleep(state_.beat);
    if (elections_.Leads(term)) EndBeat();
  }
}

void Beats::EndBeat() {
  Followers& followers = leadership_.followers();
  const int functional = followers.CountFunctional();
  for (const PeerId suspect : followers.Suspects()) catch_up_.FallBehind(suspect);
  hooks_.OnBeat(functional);
  rounds_.Commit();
  rounds_.ConfirmSoon();
  // Without a majority we step down: clients must look for another leader (R32).
  const Time limit = state_.runtime.Now() - state_.election_timeout_max;
  if (!followers.HasMajoritySince(limit, state_.quorums)) elections_.Follow(elections_.term());
}

// A broken connection is a missed beat (section 4).
void Beats::OnLost(PeerId peer) {
  if (!elections_.leads()) {
    if (peer == elections_.leader() && elections_.SilentSince()) BeginSilence();
    return;
  }
  Followers& followers = leadership_.followers();
  if (!followers.Of(peer).in_rounds) return;
  catch_up_.FallBehind(peer);
  const int functional = followers.CountFunctional();
  if (functional < state_.quorums.fast()) hooks_.OnBeat(functional);
}

// ---- silence, and flushes ----

void Beats::SilenceLoop() {
  Runtime& runtime = state_.runtime;
  for (;;) {
    const auto since = elections_.SilentSince();
    const Duration left = since ? *since + kSilentBeats * state_.beat - runtime.Now() : state_.beat;
    if (left > Duration(0)) {
      runtime.Sleep(left);
    } else {
      BeginSilence();
    }
  }
}

void Beats::BeginSilence() {
  elections_.NoteSilence();
  ObserveFlush(state_.runtime, FlushReason::kSilent, state_.last_index());
  hooks_.OnSilence();
}

void Beats::FlushLoop() {
  for (;;) {
    state_.runtime.Sleep(kBackgroundFlush);
    if (!state_.journal.has_unsynced()) continue;
    ObserveFlush(state_.runtime, FlushReason::kBackground, state_.last_index());
    hooks_.FlushInBackground();
  }
}

}  // namespace depfast::saucr
