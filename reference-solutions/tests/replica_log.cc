#include "replica_log.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace depfast::raft {

void ReplicaLog::Read() {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset_));
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t good =
      wal_.Read(bytes, [this](std::uint64_t first_index) { OnEntries(first_index); });
  offset_ += good;
  torn_bytes_ = bytes.size() - good;
}

void ReplicaLog::OnEntries(std::uint64_t first_index) {
  for (std::size_t i = first_index - 1; i < wal_.entries.size(); ++i) {
    std::string& command = wal_.entries[i].command;
    if (!command.empty()) command = Abbreviated(command);
  }
  if (first_index > highest_found_) return;
  rewritten_ = rewritten_ == 0 ? first_index : std::min(rewritten_, first_index);
  found_ = 0;
  highest_found_ = 0;
}

bool ReplicaLog::HasAll(const std::vector<Acknowledged>& all) {
  for (; found_ < all.size(); ++found_) {
    const auto& [index, command] = all[found_];
    if (index > wal_.last_index() || wal_.entries[index - 1].command != command) return false;
    highest_found_ = std::max(highest_found_, index);
  }
  return true;
}

}  // namespace depfast::raft
