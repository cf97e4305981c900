#include "submit_world.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "leader_log_checker.h"
#include "safety.h"

namespace depfast {

SubmitWorld::SubmitWorld(const testkit::ClusterOptions& options, const MakeChecker& make_checker,
                         const ClientOptions& of_client)
    : LogWorld(options, make_checker), client(cluster.simulator(), of_client) {}

void SubmitWorld::SubmitOne(std::size_t bytes) { Submit(bytes, nullptr); }

void SubmitWorld::Submit(std::size_t bytes, std::function<void(bool)> then) {
  const std::string text = CommandText(++submitted_, bytes);
  client.Submit(text, [this, command = DigestOf(text), then = std::move(then)](bool committed) {
    if (committed) acknowledged_.push_back(command);
    if (then) then(committed);
  });
}

bool SubmitWorld::SubmitAndWait(Duration at_most, std::size_t bytes) {
  const auto outcome = std::make_shared<std::optional<bool>>();
  Submit(bytes, [outcome](bool committed) { *outcome = committed; });
  cluster.RunUntil([&] { return outcome->has_value(); }, at_most);
  return outcome->value_or(false);
}

Duration SubmitWorld::SlowestOf(int count, Duration at_most) {
  Duration slowest{0};
  for (int i = 0; i < count; ++i) {
    const Time begun = cluster.now();
    if (!SubmitAndWait(at_most)) return kForever;
    slowest = std::max(slowest, cluster.now() - begun);
  }
  return slowest;
}

testing::AssertionResult SubmitWorld::Commit(int count, Duration at_most, std::size_t bytes) {
  const auto left = std::make_shared<int>(count);
  for (int i = 0; i < count; ++i) SubmitUntilCommitted(bytes, left, cluster.now() + at_most);
  if (cluster.RunUntil([&] { return *left == 0; }, at_most)) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << count - *left << " of " << count << " commands were committed within " << at_most / 1ms
         << " ms";
}

void SubmitWorld::SubmitUntilCommitted(std::size_t bytes, const std::shared_ptr<int>& left,
                                       Time limit) {
  Submit(bytes, [this, bytes, left, limit](bool committed) {
    if (committed) {
      --*left;
    } else if (cluster.now() < limit) {
      SubmitUntilCommitted(bytes, left, limit);
    }
  });
}

testing::AssertionResult SubmitWorld::AllInvariantsHold() const {
  if (const auto held = LogWorld::AllInvariantsHold(); !held) return held;
  const auto* const one_leader = dynamic_cast<const LeaderLogChecker*>(&log());
  for (const CommandDigest& command : acknowledged_) {
    const std::uint64_t times =
        one_leader != nullptr ? one_leader->TimesApplied(command) : log().HasApplied(command);
    if (times == 1) continue;
    return testing::AssertionFailure()
           << Unsafe(times == 0 ? Safety::kAcknowledgedIsKept : Safety::kOnce)
           << "a command that was acknowledged once has been applied " << times << " times";
  }
  return testing::AssertionSuccess();
}

}  // namespace depfast
