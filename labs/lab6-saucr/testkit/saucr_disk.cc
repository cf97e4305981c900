#include "saucr_disk.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace depfast::saucr {

void SaucrDisk::Read(const sim::SimDisk& disk) {
  is_damaged_ = disk.is_damaged();
  if (is_damaged_) return;
  ReadSnapshot(disk);
  static const sim::SimDisk::File kNone;
  const auto found = disk.files().find(kWalFile);
  const sim::SimDisk::File& file = found == disk.files().end() ? kNone : found->second;
  if (generation_ != file.generation) {
    generation_ = file.generation;
    bytes_read_ = 0;
    wal_ = {};
  }
  const std::string_view durable(file.data.data(), file.durable_bytes);
  bytes_read_ += wal_.Read(durable.substr(bytes_read_));
}

void SaucrDisk::ReadSnapshot(const sim::SimDisk& disk) {
  const auto found = disk.files().find(kSnapshotFile);
  if (found == disk.files().end() || snapshot_generation_ == found->second.generation) return;
  const sim::SimDisk::File& file = found->second;
  snapshot_generation_ = file.generation;
  const auto snapshot = raft::DecodeSnapshot({file.data.data(), file.durable_bytes});
  if (!snapshot) throw std::runtime_error("the snapshot on the disk is damaged");
  snapshot_ = {snapshot->last_term, snapshot->last_index};
}

EntryId SaucrDisk::last() const {
  return std::max(snapshot_, EntryId{wal_.log.last_term(), wal_.log.last_index()});
}

bool SaucrDisk::Has(EntryId entry) const {
  if (is_damaged_ || entry.index <= snapshot_.index) return true;
  return wal_.log.Knows(entry.index) && wal_.log.TermAt(entry.index) == entry.term;
}

const LogEntry* SaucrDisk::Find(EntryId entry) const {
  const RaftLog& log = wal_.log;
  if (entry.index <= log.base_index() || entry.index > log.last_index()) return nullptr;
  const LogEntry& found = log.At(entry.index);
  return found.term == entry.term ? &found : nullptr;
}

Life SaucrDisk::LifeOf(PeerId replica) const {
  const auto index = static_cast<std::size_t>(replica);
  return index < wal_.lives.size() ? wal_.lives[index] : 0;
}

}  // namespace depfast::saucr
