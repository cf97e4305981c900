// rejoin_raft: makes the data directory of a Raft replica that has lost its own, from those of a
// majority that has not.
//
// The new directory is that of a replica which had promised all that the lost one can have
// promised. Why that is safe, and why each source must have been started again since the loss, is
// in the handbook's decisions on the real host:
// - its log is the most advanced one among the sources, so it holds every committed entry,
// - its term is the highest one among them, and it has voted in that term, for itself. So it votes
//   in no term in which the lost replica can have voted for a leader.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "depfast/record_log.h"
#include "program.h"
#include "raft_wal.h"
#include "real/disk_files.h"
#include "real/promised_files.h"

namespace depfast::raft {
namespace {

struct Source {
  std::string directory;
  HardState hard_state;
  RaftLog log;
  std::optional<Snapshot> snapshot;
};

// Nothing if the file is missing.
std::optional<std::string> FileContents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Reads the log first. A replica that runs may replace both files meanwhile, its snapshot before
// the log that needs it. So this log never begins after this snapshot ends.
Source ReadSource(const std::string& directory) {
  Source source{directory, {}, {}, std::nullopt};
  if (const auto bytes = FileContents(directory + "/" + kWalFile)) {
    WalState state;
    std::ignore = state.Recover(*bytes);
    source.hard_state = state.hard_state;
    source.log = std::move(state.log);
  }
  if (const auto bytes = FileContents(directory + "/" + kSnapshotFile)) {
    source.snapshot = DecodeSnapshot(*bytes);
    if (!source.snapshot) throw std::runtime_error("the snapshot is damaged");
  }
  const Snapshot none;
  const Snapshot& snapshot = source.snapshot ? *source.snapshot : none;
  if (source.log.base_index() > snapshot.last_index) {
    throw std::runtime_error("the write-ahead log begins after the snapshot ends");
  }
  const std::uint64_t end = snapshot.last_index;
  if (!source.log.Knows(end) || source.log.TermAt(end) != snapshot.last_term) {
    source.log.Reset(end, snapshot.last_term);
  }
  return source;
}

std::vector<Source> ReadSources(const std::vector<std::string>& directories) {
  std::vector<Source> sources;
  for (const std::string& directory : directories) {
    try {
      sources.push_back(ReadSource(directory));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(directory + ": " + error.what());
    }
  }
  return sources;
}

// As votes compare logs (extended paper, section 5.4.1).
const Source& MostAdvanced(const std::vector<Source>& sources) {
  return *std::max_element(sources.begin(), sources.end(), [](const auto& one, const auto& other) {
    return std::pair(one.log.last_term(), one.log.last_index()) <
           std::pair(other.log.last_term(), other.log.last_index());
  });
}

IoRequest NewFile(const char* file, std::string contents) {
  IoRequest request;
  request.file = file;
  request.sync = true;
  request.data = MakeBytes(std::move(contents));
  return request;
}

Json Rejoined(const std::string& directory, const real::Identity& identity,
              const std::vector<std::string>& from) {
  const std::vector<Source> sources = ReadSources(from);
  const Source& best = MostAdvanced(sources);
  HardState hard_state{best.log.last_term(), identity.replica};
  for (const Source& each : sources) {
    hard_state.term = std::max(hard_state.term, each.hard_state.term);
  }
  std::vector<IoRequest> files;
  if (best.snapshot) files.push_back(NewFile(kSnapshotFile, EncodeSnapshot(*best.snapshot)));
  files.push_back(NewFile(kWalFile, EncodeWal(hard_state, best.log)));

  auto ops = real::OpenDataDirectory(directory);
  real::PromisedFiles::Format(*ops, identity);
  real::DiskCounters counters;
  real::DiskFiles disk(std::make_unique<real::PromisedFiles>(std::move(ops), identity), counters);
  std::ignore = disk.Run(files);
  if (disk.failure()) throw std::runtime_error(ToString(*disk.failure()));
  return Json{{"from", best.directory},
              {"index", best.log.last_index()},
              {"log_term", best.log.last_term()},
              {"term", hard_state.term}};
}

}  // namespace
}  // namespace depfast::raft

int main(int argc, char** argv) {
  using namespace depfast;
  std::string directory;
  std::vector<std::string> from;
  real::Identity identity;
  CLI::App app("Makes the data of a Raft replica that has lost its own.", "rejoin_raft");
  app.add_option("--id", identity.replica, "its number")->required();
  app.add_option("--replicas", identity.replicas, "of the cluster")->required()->check(kPositive);
  app.add_option("--cluster", identity.cluster, "the cluster's name")->required();
  app.add_option("--data", directory, "the new data directory")->required();
  app.add_option("--from", from, "the data directories of a majority")->required();
  return RunProgram(app, argc, argv, [&] { return raft::Rejoined(directory, identity, from); });
}
