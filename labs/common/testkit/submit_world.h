// SubmitWorld: the common part of the worlds whose tests submit commands to a replicated log. It
// has a client, and the commands whose commit the client was told of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "command_digest.h"
#include "log_world.h"
#include "submit_client.h"

namespace depfast {

class SubmitWorld : public LogWorld {
 public:
  static constexpr std::size_t kCommandBytes = 100;

  // Does not start the replicas, as LogWorld.
  SubmitWorld(const testkit::ClusterOptions& options, const MakeChecker& make_checker,
              const ClientOptions& of_client = {});

  // Submits a command and does not wait. Its outcome is counted in acknowledged().
  void SubmitOne(std::size_t bytes = kCommandBytes);
  // Submits a command, and waits. Returns whether it was committed.
  bool SubmitAndWait(Duration at_most, std::size_t bytes = kCommandBytes);
  // Submits `count` commands, one after the other. Returns the time of the slowest, or kForever if
  // one has failed.
  Duration SlowestOf(int count, Duration at_most = 5s);
  // Submits `count` commands at once, and runs until `count` are committed. Another takes the place
  // of one whose outcome is unknown. Returns whether they were.
  testing::AssertionResult Commit(int count, Duration at_most = 3s,
                                  std::size_t bytes = kCommandBytes);

  std::uint64_t acknowledged() const { return acknowledged_.size(); }
  std::uint64_t submitted() const { return submitted_; }

  // LogWorld's, and no acknowledged command is missing. With one leader none was applied twice.
  testing::AssertionResult AllInvariantsHold() const;

  SubmitClient client;

 private:
  void Submit(std::size_t bytes, std::function<void(bool committed)> then);
  void SubmitUntilCommitted(std::size_t bytes, const std::shared_ptr<int>& left, Time limit);

  std::uint64_t submitted_ = 0;
  std::vector<CommandDigest> acknowledged_;
};

}  // namespace depfast
