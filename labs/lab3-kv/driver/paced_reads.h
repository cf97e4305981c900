// PacedReads: the log as the store's service sees it. It spreads the answers to reads over steps.
//
// One confirmation of the leadership lets all reads go on that wait for it: a thousand, if a client
// has asked so many at once. With large values the answers would fill the memory, and the step
// would take longer than an election timeout. So a step answers reads up to a number of bytes. The
// rest wait for later steps, and the replica sends what it has and serves others between two steps.
// The clients take turns: a read never waits for all reads of another client.
//
// That a read waits longer does no harm: the state that it then sees is newer.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "depfast/runtime.h"
#include "replicated_log.h"

namespace depfast::kv {

class PacedReads final : public ReplicatedLog {
 public:
  // Of the answers to reads in a step. A single answer may be larger.
  static constexpr std::size_t kBytesPerStepMax = std::size_t{1} << 20;

  // Both must outlive this.
  PacedReads(Runtime& runtime, ReplicatedLog& log) : runtime_(runtime), log_(log) {}

  void Start() override { log_.Start(); }
  void Submit(std::string command, const Dependency& client, SubmitDone done) override {
    log_.Submit(std::move(command), client, std::move(done));
  }
  std::vector<PeerId> proposers() const override { return log_.proposers(); }

  void ReadIndex(const Dependency& client, ReadDone done) override {
    log_.ReadIndex(client, [this, peer = peer_, done = std::move(done)](bool may_read) mutable {
      if (!may_read || (turns_.empty() && HasRoom())) {
        done(may_read);
      } else {
        Keep(peer, std::move(done));
      }
    });
  }

  // The peer, client or replica, that the reads from now on are for.
  void set_peer(PeerId peer) { peer_ = peer; }

  // A reply of so many bytes was sent.
  void Sent(std::size_t bytes) {
    HasRoom();  // begins the count of a new step
    sent_ += bytes;
  }

 private:
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

  void AnswerInTurns() {
    runtime_.set_dependency({});  // for many clients
    while (!turns_.empty()) {
      runtime_.Sleep(kPause);
      while (!turns_.empty() && HasRoom()) AnswerNext();
    }
    answering_ = false;
  }

  void AnswerNext() {
    const PeerId peer = turns_.front();
    turns_.pop_front();
    const auto reads = reads_.find(peer);
    const ReadDone done = std::move(reads->second.front());
    reads->second.pop_front();
    if (reads->second.empty()) {
      reads_.erase(reads);
    } else {
      turns_.push_back(peer);
    }
    done(true);
  }

  // Ends the step.
  static constexpr Duration kPause = 20us;

  Runtime& runtime_;
  ReplicatedLog& log_;
  PeerId peer_ = kNobody;
  Time step_{-1};
  std::size_t sent_ = 0;  // in that step
  // Reads that the log allows, by peer; none of the lists is empty. Each peer is once in turns_.
  std::map<PeerId, std::deque<ReadDone>> reads_;
  std::deque<PeerId> turns_;
  bool answering_ = false;  // a coroutine answers them
};

}  // namespace depfast::kv
