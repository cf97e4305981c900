#include "durable_records.h"

#include <string_view>

namespace depfast::copilot {

void DurableRecords::Read(const sim::SimDisk& disk) {
  is_damaged_ = disk.is_damaged();
  if (is_damaged_) return;
  const auto found = disk.files().find(kJournalFile);
  if (found == disk.files().end()) {
    *this = {};
    return;
  }
  const sim::SimDisk::File& file = found->second;
  if (generation_ != file.generation) {
    *this = {};
    generation_ = file.generation;
  }
  const std::string_view durable(file.data.data(), file.durable_bytes);
  bytes_read_ += ReadJournal(durable.substr(bytes_read_),
                             [this](const JournalRecord& record) { Take(record); });
}

void DurableRecords::Take(const JournalRecord& record) {
  LaneRecords& lane = lanes_[static_cast<std::size_t>(record.lane)];
  using Kind = JournalRecord::Kind;
  if (record.kind == Kind::kBase) {
    lane.base = record.number;
    lane.entries.erase(lane.entries.begin(), lane.entries.upper_bound(record.number));
  } else if (record.kind == Kind::kEntry || record.kind == Kind::kRecord) {
    lane.entries[record.number] = record.record;
  }
}

const Record* DurableRecords::Find(Lane lane, EntryIndex index) const {
  const auto found = Of(lane).entries.find(index);
  return found == Of(lane).entries.end() ? nullptr : &found->second;
}

bool DurableRecords::IsSettled(Lane lane, EntryIndex index) const {
  if (is_damaged_ || index <= Of(lane).base) return true;
  const Record* const record = Find(lane, index);
  return record != nullptr && record->kind == Record::Kind::kCommitted;
}

bool DurableRecords::HasRecord(Lane lane, EntryIndex index, Ballot ballot) const {
  if (IsSettled(lane, index)) return true;
  const Record* const record = Find(lane, index);
  return record != nullptr && record->kind != Record::Kind::kNone && record->ballot >= ballot;
}

bool DurableRecords::HasAccepted(Lane lane, EntryIndex index, Ballot ballot) const {
  if (IsSettled(lane, index)) return true;
  const Record* const record = Find(lane, index);
  return record != nullptr && record->kind == Record::Kind::kAccepted && record->ballot >= ballot;
}

bool DurableRecords::HasPromised(Lane lane, EntryIndex index, Ballot ballot) const {
  if (IsSettled(lane, index)) return true;
  const Record* const record = Find(lane, index);
  return record != nullptr && record->promised >= ballot;
}

}  // namespace depfast::copilot
