// DataTransfer: a new leader whose log ends before its recovered LLE takes another replica's log.
#pragma once

#include <optional>

#include "depfast/broadcast.h"
#include "elections.h"
#include "replica_state.h"
#include "saucr_messages.h"
#include "snapshots.h"

namespace depfast::saucr {

class DataTransfer {
 public:
  // All must outlive this.
  DataTransfer(ReplicaState& state, Elections& elections, Snapshots& snapshots)
      : state_(state), elections_(elections), snapshots_(snapshots) {}

  FetchLogReply OnFetchLog(const FetchLog& request);
  // See SaucrBase.
  Broadcast<FetchLog> AskForLogs();
  bool AdoptLog(PeerId from);

 private:
  void AddData(const FetchLog& request, FetchLogReply& reply) const;
  // Takes the data of a reply. Returns what to ask for next; nothing if it is of no use.
  std::optional<FetchLog> TakeData(const FetchLog& request, const FetchLogReply& reply);

  ReplicaState& state_;
  Elections& elections_;
  Snapshots& snapshots_;
};

}  // namespace depfast::saucr
