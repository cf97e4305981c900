// PacedReads: the log as the store's service sees it. It spreads the answers to reads over steps.
//
// One confirmation of the leadership lets all reads go on that wait for it: a thousand, if a client
// has asked a thousand at once. With large values the answers would fill the memory, and the step
// would take longer than an election timeout. So a step answers reads up to a number of bytes. The
// rest wait for later steps, and the replica sends what it has and serves others between two steps.
// The clients take turns: a read never waits for all reads of another client.
//
// Reads that another replica has passed on also wait while much is held for that replica. Its other
// messages share the connection, and must not come late behind the answers.
//
// The longer wait of a read does no harm: it then sees a newer state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "depfast/runtime.h"
#include "replicated_log.h"
#include "slots.h"

namespace depfast::kv {

// A submitted header with another constant of this name does not compile.
using depfast::kNobody;

class PacedReads final : public ReplicatedLog {
 public:
  // The limit of the answers to reads in a step. A single answer may be larger.
  static constexpr std::size_t kBytesPerStepMax = std::size_t{1} << 20;
  // The limit of the bytes that are held for another replica when an answer for it is added.
  static constexpr std::size_t kHeldBytesMax = std::size_t{1} << 20;

  // Both must outlive this.
  PacedReads(Runtime& runtime, ReplicatedLog& log) : runtime_(runtime), log_(log) {}

  void Start() override { log_.Start(); }
  void Submit(std::string command, const Dependency& client, SubmitDone done) override {
    log_.Submit(std::move(command), client, std::move(done));
  }
  std::vector<PeerId> proposers() const override { return log_.proposers(); }

  void ReadIndex(const Dependency& client, ReadDone done) override {
    const auto number = asked_.Add({peer_, std::move(done)});
    log_.ReadIndex(client, [this, number](bool may_read) { OnConfirmed(number, may_read); });
  }

  // The peer, client or replica, that the reads from now on are for.
  void set_peer(PeerId peer) { peer_ = peer; }

  // A reply of these bytes was sent.
  void Sent(std::size_t bytes) {
    HasRoom();  // begins the count of a new step
    sent_ += bytes;
  }

 private:
  struct Read {
    PeerId peer = kNobody;
    ReadDone done;
  };

  void OnConfirmed(Slots<Read>::Number number, bool may_read) {
    if (asked_.Find(number) == nullptr) return;  // the log has decided before
    Read read = asked_.Take(number);
    if (!may_read || (turns_.empty() && HasRoom() && MayAnswer(read.peer))) {
      read.done(may_read);
    } else {
      Keep(read.peer, std::move(read.done));
    }
  }

  bool HasRoom() {
    if (std::exchange(step_, runtime_.Now()) != runtime_.Now()) sent_ = 0;
    return sent_ < kBytesPerStepMax;
  }

  void Keep(PeerId peer, ReadDone done) {
    auto& reads = reads_[peer];
    if (reads.empty()) turns_.push_back(peer);
    reads.push_back(std::move(done));
    if (std::exchange(answering_, true)) return;
    runtime_.Spawn("reads", [this] { AnswerInTurns(); });
  }

  bool MayAnswer(PeerId peer) {
    const bool is_replica = peer >= 0 && peer < runtime_.replicas() && peer != runtime_.self();
    return !is_replica || runtime_.HeldBytes(peer) < kHeldBytesMax;
  }

  void AnswerInTurns() {
    runtime_.set_dependency({});  // for many clients
    Duration pause = kPause;
    while (!turns_.empty()) {
      runtime_.Sleep(pause);
      bool is_answered = false;
      while (HasRoom() && AnswerNext()) is_answered = true;
      pause = is_answered ? kPause : kPauseForReplicas;
    }
    answering_ = false;
  }

  // False if no peer may be answered.
  bool AnswerNext() {
    const auto next =
        std::find_if(turns_.begin(), turns_.end(), [this](PeerId peer) { return MayAnswer(peer); });
    if (next == turns_.end()) return false;
    const PeerId peer = *next;
    turns_.erase(next);
    const auto reads = reads_.find(peer);
    const ReadDone done = std::move(reads->second.front());
    reads->second.pop_front();
    if (reads->second.empty()) {
      reads_.erase(reads);
    } else {
      turns_.push_back(peer);
    }
    done(true);
    return true;
  }

  // Ends the step.
  static constexpr Duration kPause = 20us;
  // All reads are for replicas for which much is held.
  static constexpr Duration kPauseForReplicas = 1ms;

  Runtime& runtime_;
  ReplicatedLog& log_;
  PeerId peer_ = kNobody;
  Slots<Read> asked_;  // of which the log has not decided
  Time step_{-1};
  std::size_t sent_ = 0;  // in that step
  // Reads that the log allows, by peer; none of the lists is empty. Each peer is once in turns_.
  std::map<PeerId, std::deque<ReadDone>> reads_;
  std::deque<PeerId> turns_;
  bool answering_ = false;  // a coroutine answers them
};

}  // namespace depfast::kv
