// Yielding: whether a pilot leaves the commands to the other pilot. Given, not submitted.
//
// Both pilots propose each command, and it runs by the entry that comes first. In a healthy cluster
// each pilot is first with half of the commands. A late pilot is first with fewer. Then clients
// gain little by its entries, and wait for its turns and its decisions. So it yields: it proposes
// only those commands that the other pilot has not run after the usual time. If the other pilot
// stops, a command waits for that time, until this pilot is first with some and takes its turns
// again.
#pragma once

#include "copilot_types.h"
#include "depfast/time.h"
#include "latency_estimate.h"

namespace depfast::copilot {

class Yielding {
 public:
  Yielding();

  bool yields() const { return yields_; }

  // An entry of this pilot has run: with so many commands, 1 at least, of which `first` had not run
  // by the other lane. `latest`: the latest entry that it has proposed. `turn`: the longest time
  // that the other pilot waits for our turn.
  void OnOwnEntry(EntryIndex index, int commands, int first, EntryIndex latest, Duration turn,
                  Time now);
  // A command that came at `since` has run by an entry of the other lane, or of ours.
  void OnRun(Time since, bool is_ours, Time now);

  // When this pilot proposes a command that came at `since`, although it yields.
  Time DueAt(Time since) const;
  // After a while it takes its turns again. Its next entries say whether it is still late.
  void TryAgainIfDue(Time now);
  // The first of these is under way: it goes alone, because it may be late, too.
  bool is_on_trial() const { return is_on_trial_; }

 private:
  void Begin(EntryIndex latest, Duration turn, Time now);
  void End(int share);

  bool yields_ = false;
  bool is_on_trial_ = false;
  int share_;                 // of our commands with which we were first, of 1024
  LatencyEstimate by_other_;  // how long a command takes until an entry of the other lane runs it
  Duration retry_after_;

  // Since this pilot yields.
  Time began_{0};
  Time settled_{0};        // the other pilot has waited for our turn, and waits no more
  EntryIndex behind_ = 0;  // entries behind it are proposed since then
  Duration mean_before_{0};
  // Of the commands in the present window.
  int commands_ = 0;
  Duration waited_{0};
  int first_ = 0;
};

}  // namespace depfast::copilot
