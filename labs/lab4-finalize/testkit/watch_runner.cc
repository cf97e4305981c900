#include "watch_runner.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "planted_windows.h"

namespace depfast::lab4 {
namespace {

std::string Peers(const std::vector<PeerId>& peers) {
  if (peers.empty()) return "no peer";
  std::string text = peers.size() == 1 ? "peer" : "peers";
  for (const PeerId peer : peers) text += " " + std::to_string(peer);
  return text;
}

testing::AssertionResult AreTheSpikes(WatchRunner::Findings found, const WindowWriter& writer) {
  const auto& windows = writer.windows();
  if (found.size() != windows.size()) {
    return testing::AssertionFailure()
           << "the detector judged " << found.size() << " windows of " << windows.size();
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    std::sort(found[i].begin(), found[i].end());
    if (found[i] == windows[i].spikes) continue;
    return testing::AssertionFailure()
           << "in window " << i + 1 << " of " << windows.size()
           << ", the detector finds a spike of " << Peers(found[i]) << ", and one of "
           << Peers(windows[i].spikes) << " was planted";
  }
  return testing::AssertionSuccess();
}

std::vector<WatchRunner::Windows> WindowsOf(const std::vector<const WindowWriter*>& writers) {
  std::vector<WatchRunner::Windows> streams;
  for (const WindowWriter* writer : writers) {
    auto& stream = streams.emplace_back();
    for (const PlantedWindow& planted : writer->windows()) stream.push_back(planted.window);
  }
  return streams;
}

}  // namespace

WatchRunner::WatchRunner(std::uint64_t seed)
    : seed_(testkit::SeedOf(seed)), cluster_({.seed = seed}), client_(cluster_.simulator()) {
  cluster_.Start();
  cluster_.RunFor(10ms);  // the replicas have made a step
}

WatchRunner::~WatchRunner() {
  if (!cluster_.first_death().empty()) ADD_FAILURE() << cluster_.first_death();
}

std::uint64_t WatchRunner::seed(std::uint64_t stream) const {
  return RandomStream(seed_, stream).Next();
}

std::optional<std::vector<WatchRunner::Findings>> WatchRunner::Watch(std::vector<Windows> streams) {
  constexpr Duration kPatience = 10s;
  struct Ended {
    bool is_over = false;
    std::optional<WatchReport> report;
  };
  const std::size_t expected = streams.size();
  const auto ended = std::make_shared<Ended>();
  client_.Call(0, WatchWindows{std::move(streams)}, kPatience,
               [ended](const std::optional<WatchReport>& reply) { *ended = Ended{true, reply}; });
  cluster_.RunUntil([&] { return ended->is_over || !cluster_.first_death().empty(); },
                    2 * kPatience);
  if (!ended->report || ended->report->found.size() != expected) return std::nullopt;
  return std::move(ended->report->found);
}

testing::AssertionResult WatchRunner::FindsTheSpikes(
    const std::vector<const WindowWriter*>& writers) {
  const auto found = Watch(WindowsOf(writers));
  if (!found) {
    return testing::AssertionFailure()
           << "replica 0 did not report its findings: " << cluster_.first_death();
  }
  for (std::size_t i = 0; i < writers.size(); ++i) {
    auto result = AreTheSpikes((*found)[i], *writers[i]);
    if (!result) return result;
  }
  return testing::AssertionSuccess();
}

}  // namespace depfast::lab4
