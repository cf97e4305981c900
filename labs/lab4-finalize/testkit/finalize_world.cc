#include "finalize_world.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "depfast/verify/unfinished_work.h"
#include "finalize_count.h"
#include "raft_messages.h"
#include "testkit/client.h"
#include "unfinished.h"

namespace depfast::lab4 {
namespace {

testkit::ClusterOptions WithProbe(testkit::ClusterOptions options) {
  options.probes.push_back(UnfinishedWork::kName);
  return options;
}

}  // namespace

FinalizeWorld::FinalizeWorld(testkit::ClusterOptions options)
    : KvWorld(WithProbe(std::move(options))),
      sent(cluster.simulator()),
      writer_(cluster.simulator()) {}

std::vector<Duration> FinalizeWorld::Write(PeerId leader, Duration duration, Rate rate,
                                           const std::function<void()>& sample) {
  constexpr Duration kSample = 50ms;
  struct Load {
    std::vector<Duration> latencies;
    std::size_t open = 0;
  };
  const auto load = std::make_shared<Load>();
  writer_.set_first(leader);
  const Time end = cluster.now() + duration;
  Time next_sample = cluster.now();
  for (Time next = cluster.now(); next < end; next += rate.interval) {
    cluster.RunFor(next - cluster.now());
    std::string value = std::to_string(++written_) + " ";
    value.resize(std::max(value.size(), rate.bytes), 'x');
    ++load->open;
    writer_.Execute({"SET", "key", value},
                    [this, load, begun = next](const kv::KvOutcome& outcome) {
                      --load->open;
                      const bool done = outcome.is_known() && *outcome.reply == kv::Reply::Ok();
                      if (done) load->latencies.push_back(cluster.now() - begun);
                    });
    if (sample && next >= next_sample) {
      sample();
      next_sample += kSample;
    }
  }
  cluster.RunUntil([&] { return load->open == 0; }, 2s);
  return load->latencies;
}

std::uint64_t FinalizeWorld::CallsTo(PeerId leader, PeerId follower) {
  return OutstandingCallsTo(cluster.simulator(), leader, follower);
}

std::uint64_t FinalizeWorld::CallsForVotes(PeerId candidate) {
  return OutstandingCallsOf(cluster.simulator(), candidate, raft::RequestVote::kMethod);
}

std::uint64_t FinalizeWorld::CallsOfAppend(PeerId replica) {
  return OutstandingCallsOf(cluster.simulator(), replica, raft::AppendEntries::kMethod);
}

std::uint64_t FinalizeWorld::Coroutines(PeerId replica) {
  return UnfinishedCoroutines(cluster.simulator(), replica);
}

std::uint64_t FinalizeWorld::Finalized(PeerId replica) {
  testkit::Client asker(cluster.simulator());
  std::optional<FinalizeCount> count;
  asker.Call(replica, CountFinalize{}, 1s, [&](const auto& reply) { count = reply; });
  cluster.RunFor(1s);
  if (!count) ADD_FAILURE() << "replica " << replica << " does not say what it has finalized";
  return count.value_or(FinalizeCount()).calls;
}

}  // namespace depfast::lab4
