#include "disk_journal.h"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

namespace depfast::saucr {
namespace {

std::optional<std::string> ReadFile(Runtime& runtime, const char* name) {
  const auto read = runtime.storage().Read(name);
  if (read->Wait() == Outcome::kReady) return read->data();
  if (read->error() == ENOENT) return std::nullopt;
  throw std::system_error(read->error(), std::generic_category(), name);
}

std::shared_ptr<IntEvent> NewSync() { return std::make_shared<IntEvent>("disk", 1); }

}  // namespace

DiskJournal::DiskJournal(Runtime& runtime) : runtime_(runtime) {
  const auto nothing = NewSync();
  nothing->Set(1);
  last_sync_ = marker_sync_ = nothing;
}

DiskJournal::Recovered DiskJournal::Recover() {
  Storage& storage = runtime_.storage();
  // A crash may have left unfinished files. If one cannot be removed, later operations fail.
  std::ignore = storage.Remove(kNewSnapshotFile);
  std::ignore = storage.Remove(kNewWalFile);
  Recovered recovered;
  if (const auto bytes = ReadFile(runtime_, kSnapshotFile)) {
    recovered.snapshot = raft::DecodeSnapshot(*bytes);
    if (!recovered.snapshot) throw std::runtime_error("the snapshot is damaged");
  }
  const auto bytes = ReadFile(runtime_, kWalFile);
  if (!bytes) {
    if (recovered.snapshot) throw std::runtime_error("saucr.wal is missing beside a snapshot");
    return recovered;
  }
  WalState& wal = recovered.wal;
  const std::size_t good = wal.Recover(*bytes);
  if (good < bytes->size()) std::ignore = storage.Truncate(kWalFile, good);
  const auto replicas = static_cast<std::size_t>(runtime_.replicas());
  if (!wal.map.empty() && wal.map.size() != replicas) {
    throw std::runtime_error("the LLE map on the disk is of " + std::to_string(wal.map.size()) +
                             " replicas, and this cluster has " + std::to_string(replicas));
  }
  state_ = {wal.hard_state, wal.markers, wal.map, wal.lives};
  written_index_ = wal.log.last_index();
  // A process that was killed has left its writes, and perhaps not their sync.
  has_unsynced_ = true;
  Sync()->Wait();
  return recovered;
}

// ---- writes ----

void DiskJournal::WriteEntries(const RaftLog& log, EntryIndex first) {
  ForgetFrom(first);
  written_index_ = log.last_index();
  Append(raft::EncodeEntries(log, first));
}

DiskJournal::EventPtr DiskJournal::WriteFastSwitch(EntryId entry) {
  state_.markers.fast_switch = entry;
  return marker_sync_ = AppendAndSync(EncodeFastSwitch(entry));
}

DiskJournal::EventPtr DiskJournal::WriteLatestOnDisk(EntryId entry, const LleMap& map) {
  state_.markers.latest_on_disk = entry;
  state_.map = map;
  return AppendAndSync(EncodeLatestOnDisk(entry, map));
}

DiskJournal::EventPtr DiskJournal::WriteLives(const Lives& lives) {
  state_.lives = lives;
  return AppendAndSync(EncodeLives(lives));
}

DiskJournal::EventPtr DiskJournal::WriteHardState(const HardState& state) {
  state_.hard_state = state;
  return AppendAndSync(raft::EncodeHardState(state));
}

void DiskJournal::Append(const std::string& record) {
  pending_ += record;
  has_unsynced_ = true;
  WriteSoon();
}

DiskJournal::EventPtr DiskJournal::AppendAndSync(const std::string& record) {
  Append(record);
  return Sync();
}

DiskJournal::EventPtr DiskJournal::Sync() {
  if (!has_unsynced_) return last_sync_;
  has_unsynced_ = false;
  if (next_sync_ == nullptr) next_sync_ = NewSync();
  WriteSoon();
  return last_sync_ = next_sync_;
}

void DiskJournal::WriteSoon() {
  if (std::exchange(writes_soon_, true)) return;
  // The coroutine runs after all messages of this step are handled: one write for their records.
  runtime_.Spawn("journal", [this] { Write(); });
}

void DiskJournal::Write() {
  runtime_.set_dependency({});  // no client's: its records are of several
  writes_soon_ = false;
  const auto sync = std::exchange(next_sync_, nullptr);
  std::string records = std::exchange(pending_, {});
  if (sync == nullptr) {
    if (records.empty()) return;  // Replace has written them
    std::ignore = runtime_.storage().Append(kWalFile, std::move(records), Storage::Sync::kNo);
    return;
  }
  has_unsynced_ = false;
  const auto covers = in_flight_.insert(in_flight_.end(), written_index_);
  // Without records of this step the write is empty: there are unsynced ones of an earlier step.
  const auto write = runtime_.storage().Append(kWalFile, std::move(records), Storage::Sync::kYes);
  if (write->Wait() != Outcome::kReady) {
    throw std::system_error(write->error(), std::generic_category(), "a write failed");
  }
  durable_index_ = std::max(durable_index_, *covers);
  in_flight_.erase(covers);
  sync->Set(1);
}

void DiskJournal::ForgetFrom(EntryIndex first) {
  durable_index_ = std::min(durable_index_, first - 1);
  for (EntryIndex& covers : in_flight_) covers = std::min(covers, first - 1);
}

void DiskJournal::Replace(const Snapshot& snapshot, const RaftLog& log) {
  // The new file has the records of this step, too. Operations take effect in order: after a failed
  // one the old file stays.
  pending_.clear();
  has_unsynced_ = true;
  written_index_ = log.last_index();
  Storage& storage = runtime_.storage();
  std::ignore =
      storage.Append(kNewSnapshotFile, raft::EncodeSnapshot(snapshot), Storage::Sync::kYes);
  std::ignore = storage.Rename(kNewSnapshotFile, kSnapshotFile);
  std::ignore = storage.Append(
      kNewWalFile, EncodeWal(state_.hard_state, log, state_.markers, state_.map, state_.lives),
      Storage::Sync::kYes);
  std::ignore = storage.Rename(kNewWalFile, kWalFile);
}

}  // namespace depfast::saucr
