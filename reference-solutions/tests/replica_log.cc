#include "replica_log.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

namespace depfast::raft {

void ReplicaLog::Read() {
  struct stat status = {};
  if (stat(path_.c_str(), &status) != 0) return;  // it has not written anything yet
  const bool is_other = std::exchange(file_, status.st_ino) != status.st_ino;
  const bool is_shorter = !is_other && static_cast<std::size_t>(status.st_size) < offset_;
  if (is_shorter) found_ = highest_found_ = 0;  // what it has replaced before is read again
  const bool is_new = is_other || is_shorter;
  if (is_new) {
    offset_ = 0;
    wal_ = {};
    last_in_file_ = 0;
  }
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset_));
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t good =
      wal_.Read(bytes, [this](std::uint64_t first_index) { OnEntries(first_index); });
  offset_ += good;
  torn_bytes_ = bytes.size() - good;
  if (is_new) Forget(wal_.log.last_index() + 1);  // it has no more than its own entries
}

void ReplicaLog::Forget(std::uint64_t first_index) {
  if (first_index <= entries_.size()) entries_.resize(first_index - 1);
  if (first_index > highest_found_) return;
  found_ = 0;
  highest_found_ = 0;
}

void ReplicaLog::OnEntries(std::uint64_t first_index) {
  // A new file repeats entries of the old one, in any number of records. Within one file a replica
  // writes an entry again only to replace it.
  const bool replaces = first_index <= std::exchange(last_in_file_, wal_.log.last_index());
  if (replaces && first_index <= highest_found_) {
    rewritten_ = rewritten_ == 0 ? first_index : std::min(rewritten_, first_index);
  }
  if (replaces) Forget(first_index);
  entries_.resize(std::max<std::size_t>(entries_.size(), first_index - 1), {0, kUnseen});
  for (std::uint64_t index = first_index; index <= wal_.log.last_index(); ++index) {
    LogEntry entry = wal_.log.At(index);
    if (!entry.command.empty()) entry.command = Abbreviated(entry.command);
    if (index > entries_.size()) {
      entries_.push_back(std::move(entry));
    } else {
      entries_[index - 1] = std::move(entry);
    }
  }
}

bool ReplicaLog::HasAll(const std::vector<Acknowledged>& all) {
  for (; found_ < all.size(); ++found_) {
    const auto& [index, command] = all[found_];
    if (index > entries_.size()) return false;
    const std::string& here = entries_[index - 1].command;
    if (here != command && here != kUnseen) return false;
    highest_found_ = std::max(highest_found_, index);
  }
  return true;
}

}  // namespace depfast::raft
