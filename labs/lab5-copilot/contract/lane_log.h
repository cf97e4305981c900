// LaneLog: a replica's log of one lane. Given, not submitted. Indexes never shift: a log that has
// thrown away entries 1 to 100 has base 100.
#pragma once

#include <cassert>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "copilot_messages.h"
#include "depfast/value_event.h"

namespace depfast::copilot {

// About the bytes in memory of a command, or of commands: the same number with each C++ library.
std::size_t SizeOf(const Command& command);
std::size_t SizeOf(const Commands& commands);

class LaneLog {
 public:
  // The part of an entry beside its Record. SetCommands alone changes origin and commands: the
  // journal relies on it.
  struct Body {
    std::optional<View>
        origin;  // the view in which these commands were proposed; none: no commands
    Commands commands;
    bool are_written = false;           // origin and commands are in the journal
    std::shared_ptr<IntEvent> decided;  // null if nobody has asked for it
    bool taken_over = false;            // a coroutine of this replica takes the entry over
    Ballot refused = 0;  // the highest that another replica has promised, as it has said
  };

  EntryIndex base() const { return base_; }
  EntryIndex last() const { return base_ + records_.size(); }
  // The latest entry that this replica knows of; base() if there is none.
  EntryIndex latest_known() const { return latest_known_; }
  // All entries up to here are committed.
  EntryIndex decided() const { return decided_; }
  // About the size of the commands in memory.
  std::size_t bytes() const { return bytes_; }

  Records records() const { return {base_, records_, latest_gone_}; }
  // The record of an unknown entry is empty. Requires: index > base().
  Record RecordOf(EntryIndex index) const {
    assert(index > base_);
    return index <= last() ? records_[Place(index)] : Record();
  }
  // Makes the entry, and those before it, if they are not there. Requires: index > base().
  Body& BodyOf(EntryIndex index);
  // Requires: base() < index <= last().
  const Body& BodyOf(EntryIndex index) const { return bodies_[Place(index)]; }
  bool IsDecided(EntryIndex index) const {
    return index <= base_ || RecordOf(index).kind == Record::Kind::kCommitted;
  }
  // Ready once the entry is committed. One event per entry (document 002, figure 4).
  // Requires: index > base().
  std::shared_ptr<IntEvent> Decided(EntryIndex index);

  // Replaces a record. Requires: it is not committed yet.
  void Set(EntryIndex index, const Record& record);
  // Replaces the commands.
  void SetCommands(EntryIndex index, View origin, Commands commands);

  // The latest entry up to `index` that is no no-op. Requires: base() <= index <= decided().
  EntryIndex LatestUpTo(EntryIndex index) const;
  // Throws away the entries up to `index`, which may be beyond the last: they have run, or a
  // snapshot holds them. `latest_gone`: see Records.
  void Reset(EntryIndex index, EntryIndex latest_gone);

 private:
  std::size_t Place(EntryIndex index) const { return static_cast<std::size_t>(index - base_ - 1); }
  void CountDecided();

  EntryIndex base_ = 0;
  EntryIndex latest_gone_ = 0;
  EntryIndex latest_known_ = 0;
  EntryIndex decided_ = 0;
  std::vector<Record> records_;  // records_[i] and bodies_[i] are of entry base_ + 1 + i
  std::deque<Body> bodies_;
  std::size_t bytes_ = 0;
};

}  // namespace depfast::copilot
