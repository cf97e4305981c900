// Stage: SAUCR replicas that hear each other only where the test says so. The test speaks for their
// leaders. Watch and SentRequests: facts that several tests look at.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "depfast/host/frame.h"
#include "frame_bodies.h"
#include "saucr_world.h"

namespace depfast::saucr {

// Calls `see` with each output of a replica, as it leaves.
class Watch : private sim::Observer {
 public:
  using See = std::function<void(PeerId from, Time now, const sim::Output& output)>;

  Watch(testkit::Cluster& cluster, See see) : see_(std::move(see)) {
    cluster.simulator().AddObserver(this);
  }

 private:
  void OnOutputsLeave(PeerId from, Time now, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& output : outputs) see_(from, now, output);
  }

  const See see_;
};

// The frame that an output sends; nothing if it sends none.
inline std::optional<DecodedFrame> FrameOf(const sim::Output& output) {
  const auto* const sent = std::get_if<sim::SendFrame>(&output);
  std::string error;
  return sent != nullptr ? DecodeFrame(*sent->bytes, error) : std::nullopt;
}

// The requests of one kind that replicas send to each other, in order.
template <typename Request>
class SentRequests {
 public:
  struct Sent {
    PeerId from;
    PeerId to;
    Time when;
    Request request;
  };

  explicit SentRequests(testkit::Cluster& cluster)
      : watch_(cluster, [this](PeerId from, Time now, const sim::Output& output) {
          const auto frame = FrameOf(output);
          if (!frame || frame->header.kind != FrameKind::kRequest) return;
          const PeerId to = std::get<sim::SendFrame>(output).to;
          if (to >= kFirstClient) return;
          VisitBody<Request>(
              *frame, [&](const Request& request) { all_.push_back({from, to, now, request}); });
        }) {}

  const std::vector<Sent>& all() const { return all_; }
  void Forget() { all_.clear(); }

 private:
  std::vector<Sent> all_;
  Watch watch_;
};

// Entries of these terms, behind `prev`. In all tests an id has the same command.
inline std::vector<LogEntry> EntriesBehind(EntryId prev, const std::vector<std::uint64_t>& terms) {
  std::vector<LogEntry> entries;
  for (EntryIndex index = prev.index + 1; const std::uint64_t term : terms) {
    entries.push_back(
        {term, "entry " + std::to_string(index++) + " of term " + std::to_string(term)});
  }
  return entries;
}

class Stage {
 public:
  // No replica hears another one, and each has begun.
  explicit Stage(std::uint64_t seed, int replicas = 3)
      : world({.replicas = replicas, .seed = seed}) {
    Connect({});
    world.cluster.RunFor(10ms);
  }

  // These hear each other from now on, and nobody else does.
  void Connect(const std::vector<PeerId>& group) {
    for (const auto& cut : std::exchange(cuts_, {})) world.cluster.End(cut);
    for (PeerId id = 0; id < world.group().replicas(); ++id) {
      if (std::ranges::find(group, id) != group.end()) continue;
      cuts_.push_back(faults::PartitionFault({id}));
      world.cluster.Begin(cuts_.back());
    }
  }

  // See SaucrWorld.
  template <typename Request>
  std::optional<typename Request::Reply> Ask(PeerId replica, const Request& request) {
    return world.Ask(replica, request);
  }
  // The same without a wait, and without an answer.
  template <typename Request>
  void Send(PeerId replica, const Request& request) {
    world.asker.Call(replica, request, 300ms, [](const auto&) {});
  }

  // The last replica leads all terms of the test. It gets no message of its own.
  PeerId leader() const { return static_cast<PeerId>(world.group().replicas() - 1); }
  // A message of the leader of `term`, which shows entries of these terms.
  AppendEntries Message(std::uint64_t term, EntryId prev, const std::vector<std::uint64_t>& terms,
                        Mode mode, LleMap map = {}) const {
    map.resize(static_cast<std::size_t>(world.group().replicas()));
    return {term,  leader(),       prev,     EntriesBehind(prev, terms), 0, mode,
            false, std::move(map), NoLives()};
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
  Lives NoLives() const { return Lives(static_cast<std::size_t>(world.group().replicas())); }
  // The map that names these replicas with `last`, and the others with nothing.
  LleMap MapOf(const std::vector<PeerId>& named, EntryId last) const {
    LleMap map(static_cast<std::size_t>(world.group().replicas()));
    for (const PeerId id : named) map[static_cast<std::size_t>(id)] = last;
    return map;
  }
  // The answer to a pre-vote of a later term.
  bool WouldVoteFor(PeerId voter, EntryId lle) {
    const std::uint64_t term = world.checker.claims(voter).term + 1;
    const auto reply = Ask(voter, RequestVote{term, leader(), lle, /*pre_vote=*/true});
    return reply && reply->granted;
  }

  // The replica dies, and starts again at once.
  void CrashAndStart(PeerId replica) {
    world.cluster.Crash(replica);
    world.cluster.Restart(replica);
    world.cluster.RunFor(20ms);
  }
  // These have lost entries, and die. They start among `group`, which hear each other until all of
  // these know their LLEs. Returns whether they do within 300 ms.
  bool CrashAndRecover(const std::vector<PeerId>& lost, const std::vector<PeerId>& group) {
    for (const PeerId id : lost) world.cluster.Crash(id);
    Connect(group);
    for (const PeerId id : lost) world.cluster.Restart(id);
    const bool know = world.cluster.RunUntil(
        [&] {
          return std::ranges::all_of(lost, [&](PeerId id) {
            return world.checker.claims(id).recovery == Recovery::kRecovered;
          });
        },
        300ms);
    Connect({});
    return know;
  }
  bool IsRecovering(PeerId replica) const {
    return world.checker.claims(replica).recovery == Recovery::kRecovering;
  }
  // By its own word, since it has started.
  EntryId LleOf(PeerId replica) const { return world.checker.claims(replica).lle; }
  const Markers& MarkersOf(PeerId replica) const {
    return world.checker.disk(replica).wal().markers;
  }

  SaucrWorld world;

 private:
  std::vector<faults::Fault> cuts_;
};

}  // namespace depfast::saucr
