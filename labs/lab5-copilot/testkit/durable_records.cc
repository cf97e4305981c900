#include "durable_records.h"

#include <string>
#include <string_view>

#include "copilot_observations.h"

namespace depfast::copilot {

CommandDigest CommandsDigest(const Commands& commands) {
  std::string whole;
  for (const Command& each : commands) {
    whole += std::to_string(each.name) + " " + std::to_string(each.text.size()) + " " + each.text;
  }
  CommandDigest digest = DigestOf(whole);
  digest.hash = CommandsHash(commands);
  return digest;
}

void DurableRecords::Read(const sim::SimDisk& disk) {
  is_damaged_ = disk.is_damaged();
  if (is_damaged_) return;
  ReadSnapshot(disk);
  ReadNewRecords(disk);
}

void DurableRecords::ReadSnapshot(const sim::SimDisk& disk) {
  const auto found = disk.files().find(kSnapshotFile);
  if (found == disk.files().end() || snapshot_generation_ == found->second.generation) return;
  const sim::SimDisk::File& file = found->second;
  snapshot_generation_ = file.generation;
  const auto snapshot = DecodeSnapshot({file.data.data(), file.durable_bytes});
  snapshot_ = snapshot ? snapshot->id : SnapshotId();
}

void DurableRecords::ReadNewRecords(const sim::SimDisk& disk) {
  static const sim::SimDisk::File kNone;
  const auto found = disk.files().find(kJournalFile);
  const sim::SimDisk::File& file = found == disk.files().end() ? kNone : found->second;
  if (generation_ != file.generation) {
    generation_ = file.generation;
    bytes_read_ = 0;
    lanes_ = {};
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
    Stored& stored = lane.entries[record.number];
    stored.record = record.record;
    if (record.kind == Kind::kEntry) stored.commands = CommandsDigest(record.commands);
  }
}

const Record* DurableRecords::Find(Lane lane, EntryIndex index) const {
  const auto found = Of(lane).entries.find(index);
  return found == Of(lane).entries.end() ? nullptr : &found->second.record;
}

bool DurableRecords::IsSettled(Lane lane, EntryIndex index) const {
  if (is_damaged_ || index <= Of(lane).base) return true;
  const Record* const record = Find(lane, index);
  return record != nullptr && record->kind == Record::Kind::kCommitted;
}

bool DurableRecords::HasCommands(Lane lane, EntryIndex index, const CommandDigest& commands) const {
  if (index <= At(snapshot_.ran, lane)) return true;
  const auto found = Of(lane).entries.find(index);
  return found != Of(lane).entries.end() && found->second.commands == commands;
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
