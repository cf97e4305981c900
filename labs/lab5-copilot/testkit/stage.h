// Stage: replicas that do not hear each other, and a test that speaks for the others.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_memory.h"
#include "copilot_messages.h"
#include "submit.h"
#include "testkit/client.h"
#include "testkit/cluster.h"

namespace depfast::copilot {

// The first views: replica 0 is the pilot, replica 1 the copilot.
inline constexpr View kPilots = 0;
inline constexpr View kCopilots = 1;
inline constexpr PeerId kFollower = 2;

// The reply of `replica`; a default one, and a failure, if there is none within 1 s. `dependency`:
// see Client::Call.
template <typename Request>
typename Request::Reply AskOne(testkit::Cluster& cluster, testkit::Client& client, PeerId replica,
                               const Request& request,
                               std::optional<Dependency> dependency = std::nullopt) {
  struct Answered {
    std::optional<typename Request::Reply> reply;
    bool is_over = false;
  };
  const auto answered = std::make_shared<Answered>();
  client.Call(
      replica, request, 1s, [answered](const auto& reply) { *answered = {reply, true}; },
      dependency);
  cluster.RunUntil([&] { return answered->is_over; }, 2s);
  EXPECT_TRUE(answered->reply) << "replica " << replica << " does not answer a " << Request::kName;
  return answered->reply.value_or(typename Request::Reply{});
}

// The `number`-th command of a client that asks one pilot.
inline Command OwnCommand(std::uint64_t number) {
  constexpr std::uint64_t kClient = 99;
  return {kClient << kRequestBits | number, "own " + std::to_string(number)};
}

// Its pilot gets it alone. Its answer does not matter.
inline void SubmitTo(testkit::Client& client, PeerId pilot, std::uint64_t number) {
  const Command command = OwnCommand(number);
  client.Call(
      pilot, Submit{command.text}, 5s, [](const std::optional<SubmitReply>&) {},
      Dependency::Client(command.name));
}

class Stage {
 public:
  explicit Stage(std::uint64_t seed, int replicas = 3)
      : cluster({.replicas = replicas, .seed = seed, .profile = sim::Profile::SteadyLab()}),
        client_(cluster.simulator()) {
    cluster.Start();
    std::vector<PeerId> all;
    for (PeerId id = 0; id < replicas; ++id) {
      cluster.Partition({id});
      all.push_back(id);
    }
    // A slow file system: an answer that does not wait for it is early.
    cluster.Begin(faults::FsDelay(all, 5ms));
    cluster.RunFor(30ms);
  }
  ~Stage() {
    if (!cluster.first_death().empty()) ADD_FAILURE() << cluster.first_death();
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // See AskOne.
  template <typename Request>
  typename Request::Reply Ask(const Request& request, PeerId replica = kFollower) {
    return AskOne(cluster, client_, replica, request);
  }

  // The replicas hear each other from now on, but for the pilot.
  void ConnectWithoutThePilot() {
    cluster.Heal();
    cluster.Partition({0});
  }

  testkit::Client& client() { return client_; }

  // The follower dies and starts again: it knows what is on its disk.
  void RestartFollower() {
    cluster.Crash(kFollower);
    cluster.Restart(kFollower);
    cluster.RunFor(100ms);
  }

  testkit::Cluster cluster;

 private:
  testkit::Client client_;
};

// The `number`-th of some commands, as the commands of an entry.
inline Commands CommandNumber(std::uint64_t number) {
  return {{number, "command " + std::to_string(number)}};
}

// A proposal of the pilot's lane in its first view, or of the copilot's.
inline FastAccept ProposalOfP(EntryIndex index, EntryIndex dependency, View view = kPilots) {
  return {Lane::kPilot, view, index, dependency, 1, CommandNumber(100 + index)};
}
inline FastAccept ProposalOfQ(EntryIndex index, EntryIndex dependency, View view = kCopilots) {
  return {Lane::kCopilot, view, index, dependency, 0, CommandNumber(200 + index)};
}

// A value of the pilot's entry, to be accepted at `ballot`.
inline Accept AcceptOfP(EntryIndex index, EntryIndex dependency, Ballot ballot) {
  return {Lane::kPilot, ballot, index, false, 0, dependency, kPilots, CommandNumber(100 + index)};
}

}  // namespace depfast::copilot
