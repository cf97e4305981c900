// VoteModel: what a replica answers to proposals, Accepts, Prepares and Commits, by the rules 3
// to 6, 10 and 12 of lab 5's handout. It is no pilot, and throws nothing away.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>

#include "copilot_messages.h"

namespace depfast::copilot {

class VoteModel {
 public:
  // The answer. Of a FastAcceptReply: without the other lane's fields.
  FastAcceptReply On(const FastAccept& request);
  AcceptReply On(const Accept& request);
  PrepareReply On(const Prepare& request);
  // Requires: IsKnown(request).
  CommitReply On(const Commit& request);

  struct Entry {
    Record record;
    std::optional<View> origin;
    Commands commands;
  };
  Entry Of(Lane lane, EntryIndex index) const;
  View ViewOfLane(Lane lane) const { return logs_[static_cast<std::size_t>(lane)].view; }

  // Whether the replica has the commands of the commit.
  bool IsKnown(const Commit& request) const;

 private:
  struct Log {
    View view = 0;
    std::map<EntryIndex, Entry> entries;
  };

  Log& Of(Lane lane) { return logs_[static_cast<std::size_t>(lane)]; }
  // False if the view is old.
  bool Know(Lane lane, View view);
  // The records of the lane, from the first entry on.
  std::vector<Record> RecordsOf(Lane lane) const;

  std::array<Log, 2> logs_ = {Log{0, {}}, Log{1, {}}};
};

}  // namespace depfast::copilot
