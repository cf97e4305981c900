// QuorumModel: what a quorum is, in thirty lines that are obviously right. And random scripts whose
// expectations come from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "script.h"

namespace depfast::lab1 {

class QuorumModel {
 public:
  QuorumModel(int needed, int total) : needed_(needed), votes_(static_cast<std::size_t>(total)) {}

  void Vote(int voter, bool yes) {
    auto& vote = votes_[static_cast<std::size_t>(voter)];
    if (!vote) vote = yes;
  }

  int yes() const { return Count(true); }
  int no() const { return Count(false); }
  bool ready() const { return yes() >= needed_; }
  bool fail() const { return static_cast<int>(votes_.size()) - no() < needed_; }
  bool decided() const { return ready() || fail(); }

  // All that a look should find, with `timed_out`: a Wait has timed out before.
  Expected Looks(bool timed_out) const;

 private:
  int Count(bool yes) const;

  int needed_;
  std::vector<std::optional<bool>> votes_;
};

// A quorum, votes and waits at moments of which no two are equal.
struct RandomCase {
  struct Vote {
    int voter = 0;
    bool yes = false;
    Duration at{0};
  };
  struct Wait {
    Duration at{0};
    Duration timeout{0};
  };
  int needed = 1;
  int total = 1;
  std::vector<Vote> votes;  // in order of time
  std::vector<Wait> waits;  // a coroutine each

  static RandomCase Draw(RandomStream& stream, int waits_max);
  Script ToScript() const;
};

// The smallest case that `fails`, made from one that does by leaving out votes and waits.
RandomCase Minimised(RandomCase failing, const std::function<bool(const RandomCase&)>& fails);

}  // namespace depfast::lab1
