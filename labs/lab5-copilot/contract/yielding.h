// Yielding: whether a pilot leaves the commands to the other pilot. Given, not submitted.
//
// Both pilots propose each command, and it runs by the entry that comes first. In a healthy cluster
// each pilot is first with half of the commands. A late pilot is first with fewer. Then clients
// gain little by its entries, and wait for its turns and its decisions. The same is so if its
// entries are decided later than the other's, or if it pauses again and again. So it yields: it
// proposes only those commands that the other pilot has not run after twice the usual time. If the
// other pilot stops, commands wait for that time, until this pilot is first with some, and takes
// its turns.
#pragma once

#include <algorithm>
#include <cstddef>

#include "copilot_types.h"
#include "depfast/time.h"
#include "latency_estimate.h"

namespace depfast::copilot {

class Yielding {
 public:
  // An entry of this pilot.
  struct Entry {
    EntryIndex index = 0;
    int commands = 0;            // 1 at least
    int first = 0;               // those that had not run by the other lane
    bool is_taken_over = false;  // another replica has had to decide it
  };

  // This pilot's turns now. `latest`: the latest entry that it has proposed. `patience`: the
  // longest time that the other pilot waits for the next. `waiting`: commands without an answer.
  struct Turn {
    EntryIndex latest = 0;
    Duration patience{0};
    std::size_t waiting = 0;
    Time now{0};
  };

  Yielding();

  bool yields() const { return yields_; }

  // An entry of this pilot has run.
  void OnOwnEntry(const Entry& entry, const Turn& turn);
  // All may know the decision of an entry so long after this pilot has proposed it, or has heard
  // the other's proposal. Between healthy pilots both take as long.
  void OnDecision(bool is_ours, Duration took);
  // A command that came at `since` has run, by an entry of this pilot or of the other.
  void OnRun(Time since, bool is_ours, Time now);

  // When this pilot proposes a command that came at `since`, although it yields.
  Time DueAt(Time since) const { return std::max(since, settled_) + hold_; }
  // This pilot comes to propose that command. If it comes much later than DueAt, it has paused.
  // Then it hears first what has run meanwhile. Once for a command: a pilot that is always late
  // proposes, too. Requires: it yields.
  void NoticePause(Time since, Time now);
  // After a while it takes its turns again. It goes on if commands then take little longer.
  void TryAgainIfDue(Time now);

 private:
  // The latest decisions of a lane.
  struct Decisions {
    int entries = 0;
    Duration took{0};  // all together
  };

  void Begin(const Turn& turn);
  void End(Time now);
  bool DecidesLater();
  bool PausesAgain(const Entry& entry, Time now);
  void OnMean(Duration mean, Time now);
  void NewWindow();

  bool yields_ = false;
  int share_;  // of our commands, those with which we were first, of 1024
  Decisions ours_;
  Decisions others_;
  int pauses_in_a_row_ = 0;   // each less than kPauseMax after the one before
  Time last_pause_{-1s};      // none yet
  LatencyEstimate by_other_;  // how long a command takes until an entry of the other lane runs it
  Duration mean_before_{0};   // before this pilot yielded
  Duration mean_alone_{0};    // while it yields

  // Since it yields.
  Time began_{0};
  Time settled_{0};         // the other pilot waits for our turn no more, or we have paused
  EntryIndex behind_ = 0;   // later entries are proposed since then
  Duration least_hold_{0};  // the patience of a turn, when it began
  Duration hold_{0};

  Time ended_{0};
  Duration retry_after_;
  bool is_on_trial_ = false;
  bool trial_has_failed_ = false;

  // Of the latest commands, up to kMeanWindow.
  int commands_ = 0;
  Duration waited_{0};
  int first_ = 0;  // of entries behind `behind_`
};

}  // namespace depfast::copilot
