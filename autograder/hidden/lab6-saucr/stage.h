// Stage: SAUCR replicas that hear each other only where the test says so. The test speaks for their
// leaders.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "saucr_world.h"
#include "sent_requests.h"

namespace depfast::saucr {

// Entries of these terms, behind `prev`. In all tests an id has the same command.
inline std::vector<LogEntry> EntriesBehind(EntryId prev, const std::vector<std::uint64_t>& terms) {
  std::vector<LogEntry> entries;
  for (EntryIndex index = prev.index + 1; const std::uint64_t term : terms) {
    entries.push_back(
        {term, "entry " + std::to_string(index++) + " of term " + std::to_string(term)});
  }
  return entries;
}

class Stage : public SaucrWorld {
 public:
  // No replica hears another one, and each has begun.
  explicit Stage(std::uint64_t seed, int replicas = 3)
      : SaucrWorld({.replicas = replicas, .seed = seed}) {
    Connect({});
    cluster.RunFor(10ms);
  }

  // These hear each other from now on, and nobody else does.
  void Connect(const std::vector<PeerId>& members) {
    for (const auto& cut : std::exchange(cuts_, {})) cluster.End(cut);
    for (PeerId id = 0; id < group().replicas(); ++id) {
      if (std::ranges::find(members, id) != members.end()) continue;
      cuts_.push_back(faults::PartitionFault({id}));
      cluster.Begin(cuts_.back());
    }
  }

  // Asks without a wait and without an answer.
  template <typename Request>
  void Send(PeerId replica, const Request& request) {
    asker.Call(replica, request, 300ms, [](const auto&) {});
  }

  // The last replica leads all terms of the test. It gets no message of its own.
  PeerId spoken_leader() const { return static_cast<PeerId>(group().replicas() - 1); }
  // A message of the leader of `term`, which shows entries of these terms.
  AppendEntries Message(std::uint64_t term, EntryId prev, const std::vector<std::uint64_t>& terms,
                        Mode mode, LleMap map = {}) const {
    map.resize(static_cast<std::size_t>(group().replicas()));
    return {term,  spoken_leader(), prev,     EntriesBehind(prev, terms), 0, mode,
            false, std::move(map),  NoLives()};
  }
  AppendEntries Beat(std::uint64_t term, Mode mode) const {
    AppendEntries beat = Message(term, {}, {}, mode);
    beat.beat = true;
    return beat;
  }
  // These buffer (1,1), and then (1,2) and (1,3). The rounds name `named`.
  void TakeThree(const std::vector<PeerId>& replicas, const std::vector<PeerId>& named) {
    for (const PeerId id : replicas) {
      const LleMap first = MapOf(named, {1, 1}), all = MapOf(named, {1, 3});
      EXPECT_TRUE(Ask(id, Message(1, {}, {1}, Mode::kFast, first)));
      EXPECT_TRUE(Ask(id, Message(1, {1, 1}, {1, 1}, Mode::kFast, all)));
    }
  }
  Lives NoLives() const { return Lives(static_cast<std::size_t>(group().replicas())); }
  // The map that names these replicas with `last`, and the others with nothing.
  LleMap MapOf(const std::vector<PeerId>& named, EntryId last) const {
    LleMap map(static_cast<std::size_t>(group().replicas()));
    for (const PeerId id : named) map[static_cast<std::size_t>(id)] = last;
    return map;
  }
  // The answer to a pre-vote of a later term.
  bool WouldVoteFor(PeerId voter, EntryId lle) {
    const std::uint64_t term = checker.claims(voter).term + 1;
    const auto reply = Ask(voter, RequestVote{term, spoken_leader(), lle, /*pre_vote=*/true});
    return reply && reply->granted;
  }

  // The replica dies, and starts again at once.
  void CrashAndStart(PeerId replica) {
    cluster.Crash(replica);
    cluster.Restart(replica);
    cluster.RunFor(20ms);
  }
  // These have lost entries, and die. They start among `members`, which hear each other until all
  // of these know their LLEs. Returns whether they do within 300 ms.
  bool CrashAndRecover(const std::vector<PeerId>& lost, const std::vector<PeerId>& members) {
    for (const PeerId id : lost) cluster.Crash(id);
    Connect(members);
    for (const PeerId id : lost) cluster.Restart(id);
    const auto has_recovered = [this](PeerId id) { return HasRecovered(id); };
    const bool know =
        cluster.RunUntil([&] { return std::ranges::all_of(lost, has_recovered); }, 300ms);
    Connect({});
    return know;
  }
  bool IsRecovering(PeerId replica) const {
    return checker.claims(replica).recovery == Recovery::kRecovering;
  }
  // By its own word, since it has started.
  EntryId LleOf(PeerId replica) const { return checker.claims(replica).lle; }
  const Markers& MarkersOf(PeerId replica) const { return checker.disk(replica).wal().markers; }

 private:
  std::vector<faults::Fault> cuts_;
};

}  // namespace depfast::saucr
