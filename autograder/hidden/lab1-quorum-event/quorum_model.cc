#include "quorum_model.h"

#include <algorithm>
#include <functional>
#include <string>

#include "script_runner.h"

namespace depfast::lab1 {
namespace {

// A vote falls on a whole millisecond. A wait begins 250 us and ends 500 us after one.
constexpr int kMomentsMax = 40;
constexpr int kRandomVotersMax = 7;
constexpr int kVotesMax = 14;

int Between(RandomStream& stream, int low, int high) {
  return low + static_cast<int>(stream.Below(static_cast<std::uint64_t>(high - low + 1)));
}

Decision DecisionOf(const RandomCase& random) {
  QuorumModel model(random.needed, random.total);
  for (const auto& vote : random.votes) {
    model.Cast(vote.voter, vote.vote);
    if (model.decided()) return {vote.at, model.ready()};
  }
  return {};
}

// The smallest case that `fails`, made from one that does by leaving out votes and waits.
RandomCase Minimised(RandomCase failing, const std::function<bool(const RandomCase&)>& fails) {
  const auto try_without = [&](auto& list) {
    for (std::size_t i = list.size(); i-- > 0;) {
      const auto left_out = list[i];
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      if (!fails(failing)) list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), left_out);
    }
  };
  try_without(failing.votes);
  try_without(failing.waits);
  return failing;
}

}  // namespace

int QuorumModel::Count(Vote vote) const {
  return static_cast<int>(std::count(votes_.begin(), votes_.end(), vote));
}

Expected QuorumModel::Looks(bool timed_out) const {
  Expected look;
  look.ready = look.is_ready = ready();
  look.fail = look.is_failed = fail();
  look.timed_out = timed_out && !decided();
  look.yes = Count(Vote::kYes);
  look.no = Count(Vote::kNo);
  look.lost = Count(Vote::kLost);
  look.needed = needed_;
  look.total = static_cast<int>(votes_.size());
  return look;
}

void Decision::ExpectEndOf(Script::Coroutine& waiter, Duration from, Duration timeout) const {
  if (at > from + timeout) {
    waiter.Until(Result::kTimedOut, from + timeout);
  } else {
    waiter.Until(ready ? Result::kReady : Result::kFailed, std::max(at, from));
  }
}

RandomCase RandomCase::Draw(RandomStream& stream, int waits_max) {
  RandomCase random;
  random.total = Between(stream, 1, kRandomVotersMax);
  random.needed = Between(stream, 1, random.total);
  const int yes_percent = Between(stream, 10, 90);
  const int votes = Between(stream, 1, kVotesMax);
  Duration at = 0ms;
  for (int i = 0; i < votes; ++i) {
    at += 1ms * Between(stream, 1, 3);
    const int voter = Between(stream, 0, random.total - 1);
    const bool yes = Between(stream, 1, 100) <= yes_percent;
    const bool lost = Between(stream, 0, 1) == 1;
    random.votes.push_back({voter, yes ? Vote::kYes : lost ? Vote::kLost : Vote::kNo, at});
  }
  const int waits = Between(stream, std::min(1, waits_max), waits_max);
  for (int i = 0; i < waits; ++i) {
    const Duration from = 1ms * Between(stream, 0, kMomentsMax) + 250us;
    random.waits.push_back({from, 1ms * Between(stream, 0, kMomentsMax) + 250us});
  }
  return random;
}

Script RandomCase::ToScript() const {
  Script script;
  const Id quorum = script.Quorum(needed, total);
  const Decision decision = DecisionOf(*this);
  Duration first_timeout = kForever;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const Wait& wait = waits[i];
    auto waiter = script.In("waiter " + std::to_string(i + 1));
    waiter.At(wait.at).WaitsFor(quorum, wait.timeout);
    decision.ExpectEndOf(waiter, wait.at, wait.timeout);
    const Duration end = wait.at + wait.timeout;
    if (end < decision.at) first_timeout = std::min(first_timeout, end);
  }
  QuorumModel model(needed, total);
  auto votes_in = script.In("votes");
  for (const Ballot& ballot : votes) {
    votes_in.At(ballot.at).Votes(quorum, ballot.voter, ballot.vote);
    model.Cast(ballot.voter, ballot.vote);
    votes_in.Sees(quorum, model.Looks(first_timeout < ballot.at));
  }
  return script;
}

testing::AssertionResult RandomScriptsPass(int cases, int waits_max) {
  ScriptRunner runner;
  RandomStream stream(testkit::TheEnvironment().seed, static_cast<std::uint64_t>(waits_max));
  for (int i = 1; i <= cases; ++i) {
    const RandomCase random = RandomCase::Draw(stream, waits_max);
    auto verdict = runner.Run(random.ToScript());
    if (verdict) continue;
    if (!runner.death().empty()) return verdict;
    const RandomCase smallest = Minimised(random, [&](const RandomCase& smaller) {
      return !runner.Run(smaller.ToScript()) && runner.death().empty();
    });
    return runner.Run(smallest.ToScript())
           << "(random case " << i << ", without the votes and waits that do not matter)";
  }
  return testing::AssertionSuccess();
}

}  // namespace depfast::lab1
