// QuorumModel: the definition of a quorum in thirty lines that are obviously correct, and random
// scripts whose expectations come from it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/wait_description.h"
#include "script.h"

namespace depfast::lab1 {

class QuorumModel {
 public:
  QuorumModel(int needed, int total) : needed_(needed), votes_(static_cast<std::size_t>(total)) {}

  void Cast(int voter, Vote vote) {
    auto& first = votes_[static_cast<std::size_t>(voter)];
    if (first == Vote::kPending) first = vote;
  }

  bool ready() const { return Count(Vote::kYes) >= needed_; }
  bool fail() const { return Count(Vote::kYes) + Count(Vote::kPending) < needed_; }
  bool decided() const { return ready() || fail(); }
  bool has_voted(int voter) const {
    return votes_[static_cast<std::size_t>(voter)] != Vote::kPending;
  }

  // The look at such a quorum. `timed_out`: a Wait has timed out before.
  Expected Looks(bool timed_out) const;

 private:
  int Count(Vote vote) const;

  int needed_;
  std::vector<Vote> votes_;
};

// The decision of a quorum.
struct Decision {
  Duration at = kForever;  // kForever: there is none
  bool ready = false;

  // Sets the expectation of the waiter's latest step, a wait that begins at `from`. A decision at
  // the moment of its end counts.
  void ExpectEndOf(Script::Coroutine& waiter, Duration from, Duration timeout) const;
};

// A quorum, votes and waits at distinct moments.
struct RandomCase {
  struct Ballot {
    int voter = 0;
    Vote vote = Vote::kYes;
    Duration at{0};
  };
  struct Wait {
    Duration at{0};
    Duration timeout{0};
  };
  int needed = 1;
  int total = 1;
  std::vector<Ballot> votes;  // in order of time
  std::vector<Wait> waits;    // a coroutine each

  static RandomCase Draw(RandomStream& stream, int waits_max);
  Script ToScript() const;
};

// Draws `cases` random cases with up to `waits_max` waits each and runs them all. Fails with the
// smallest failing script that leaving out votes and waits leads to.
testing::AssertionResult RandomScriptsPass(int cases, int waits_max);

}  // namespace depfast::lab1
