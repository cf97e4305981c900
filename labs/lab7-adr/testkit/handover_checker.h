// HandoverChecker: Raft's invariants, and those of hand-overs.
//
// A replica may campaign without pre-votes, and before an election timeout, if it has received a
// TimeoutNow of its term's leader: that is its licence for the next term, and for no other. The
// facts are frames, disks, faults, and the health that tests plant (planted_health.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "handover_messages.h"
#include "levels.h"
#include "raft_checker.h"

namespace depfast::adr {

enum class HandoverInvariant : std::uint8_t {
  kCaughtUp,      // a successor has all committed entries on its disk (H1)
  kHealthyStays,  // a leader hands over only if it is slow, or finds itself slow (H1)
  kRest,          // a replica rests after each hand-over that it has sent or obeyed (H5)
};

// The three answers that Violations asks for.
bool IsSafety(HandoverInvariant invariant);
const char* ToString(HandoverInvariant invariant);
std::string HandoutRule(HandoverInvariant invariant);

// A TimeoutNow that has left its leader, the first of its hand-over.
struct SentHandover {
  PeerId from = kNobody;
  PeerId to = kNobody;
  std::uint64_t term = 0;
  Time at{0};
  std::uint64_t last_index = 0;
};

class HandoverChecker final : public raft::RaftChecker {
 public:
  // See RaftChecker.
  HandoverChecker(const sim::GroupView& group, testkit::History* history);

  // In order.
  const std::vector<SentHandover>& sent() const { return sent_; }

  std::string FirstViolation() const override;
  std::string FirstSafetyViolation() const override;

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnRestart(PeerId replica, Time now) override;
  void OnFaultBegins(Time now, const faults::Fault& fault) override;
  void OnFaultEnds(Time now, const faults::Fault& fault) override;

 private:
  class Broken : public Violations<HandoverInvariant> {
   public:
    explicit Broken(testkit::History* history) : Violations(history) {}
    void Add(Time now, HandoverInvariant invariant, const std::string& what) {
      now_ = now;
      Violate(invariant, what);
    }
    std::string First(bool of_safety) const { return Violations::First(of_safety); }
  };
  struct Replica {
    // The rest after the hand-overs that it has sent or obeyed.
    std::optional<Time> latest = std::nullopt;
    Duration rest{0};
    // The terms of the latest campaign that its leader has asked for, and of the latest one of
    // these that it has begun. 0: none.
    std::uint64_t licence = 0;
    Time licence_came{0};
    std::uint64_t obeyed = 0;
    bool finds_itself_slow = false;  // a test says so
    int faults = 0;                  // under way
    Time excused_until{0};           // after the latest of the two
  };

  Replica& Of(PeerId replica) { return replicas_[static_cast<std::size_t>(replica)]; }
  void OnReceived(PeerId replica, Time now, PeerId from, const DecodedFrame& frame);
  void OnTimeoutNow(PeerId replica, Time now, const raft::TimeoutNow& message);
  void OnVoteRequest(PeerId replica, Time now, const raft::RequestVote& request);
  void OnSent(PeerId from, PeerId to, Time now, const raft::TimeoutNow& message);
  bool IsRepeated(PeerId from, PeerId to, Time now, std::uint64_t term) const;
  void CheckHeir(PeerId from, PeerId to, Time now);
  void CheckLeader(PeerId from, Time now);
  void CheckRest(PeerId from, Time now);
  static void NoteHandover(Replica& replica, Time now);
  void AddToFaults(Time now, const faults::Fault& fault, int more);

  Broken broken_;
  std::vector<Replica> replicas_;
  std::vector<SentHandover> sent_;
};

}  // namespace depfast::adr
