// KvLoad against one replica with a map: each lie of the replica is noticed, and the truth is not.
#include "kv_load.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "sim/step_host.h"
#include "testkit/some.h"

namespace depfast::kv {
namespace {

// The replica's answer.
enum class Store { kHonest, kDropsWrites, kReadsStale, kInvents, kRefuses };

class OneReplica final : public Service {
 public:
  OneReplica(Runtime& runtime, Store store) : runtime_(runtime), store_(store) {}

  void Start() override {
    runtime_.rpc().Handle<KvRequest>(
        [this](PeerId, const KvRequest& request) { return Answer(request.command); });
  }

 private:
  Reply Answer(const Command& command) {
    if (store_ == Store::kRefuses) return Reply::Error("ERR no");
    if (command[0] == "GET") return Read(values_[command[1]]);
    if (store_ != Store::kDropsWrites) values_[command[1]].push_back(command[2]);
    return Reply::Ok();
  }

  Reply Read(const std::vector<std::string>& values) const {
    if (values.empty()) return Reply::Nil();
    if (store_ == Store::kInvents) return Reply::String("17");
    return Reply::String(store_ == Store::kReadsStale ? values.front() : values.back());
  }

  Runtime& runtime_;
  const Store store_;
  std::map<std::string, std::vector<std::string>> values_;  // all that were written, in order
};

// One replica proposes, and all commands are applied, or none.
class OneReplicaLog final : public LogChecker {
 public:
  explicit OneReplicaLog(bool applies) : applies_(applies) {}

  std::vector<PeerId> Proposers() const override { return {0}; }
  std::uint64_t AppliedUpTo(PeerId) const override { return 0; }
  std::uint64_t CommittedUpTo() const override { return 0; }
  std::string WhyNotCommitted(PeerId, std::uint64_t, const CommandDigest&) const override {
    return "";
  }
  bool HasApplied(const CommandDigest&) const override { return applies_; }
  std::uint64_t Restored(PeerId) const override { return 0; }
  std::size_t LogBytes(PeerId) const override { return 0; }
  bool HasSnapshot(PeerId) const override { return false; }
  std::string FirstViolation() const override { return ""; }

 private:
  const bool applies_;
};

struct Outcome {
  int ok = 0;
  std::string untrue;
};

// 2,000 commands, four at a time.
Outcome Load(Store store, int reads_percent = 50, bool applies = true) {
  sim::SimOptions options;
  options.replicas = 1;
  options.make_backend = sim::InProcessReplicas(
      [store](Runtime& runtime) { return std::make_unique<OneReplica>(runtime, store); });
  sim::Simulator simulator(std::move(options));
  const OneReplicaLog log(applies);
  KvLoad load(simulator, log, {.give_up = 10ms}, reads_percent);
  Outcome outcome;
  simulator.Start();
  for (int i = 0; i < 500; ++i) {
    for (int j = 0; j < 4; ++j) load.Execute([&outcome](bool ok) { outcome.ok += ok ? 1 : 0; });
    simulator.RunFor(3ms);
  }
  outcome.untrue = load.untrue();
  return outcome;
}

TEST(KvLoad, TheTruthIsNotAccused) {
  for (const auto& [mix, reads_percent] : testkit::Some(Mixes())) {
    const Outcome outcome = Load(Store::kHonest, reads_percent);
    EXPECT_EQ(outcome.untrue, "") << mix;
    EXPECT_EQ(outcome.ok, 2000) << mix;
  }
}

TEST(KvLoad, ADroppedWriteIsNoticedInEveryMix) {
  for (const auto& [mix, reads_percent] : testkit::Some(Mixes())) {
    EXPECT_NE(Load(Store::kDropsWrites, reads_percent).untrue.find("overwritten before"),
              std::string::npos)
        << mix;
  }
}

TEST(KvLoad, ALieIsNoticed) {
  const std::string stale = Load(Store::kReadsStale).untrue;
  EXPECT_EQ(stale.find("GET key"), 0u) << stale;
  EXPECT_NE(stale.find("overwritten before"), std::string::npos) << stale;
  EXPECT_NE(Load(Store::kInvents).untrue.find("no client wrote"), std::string::npos);
  const std::string early = Load(Store::kHonest, 50, /*applies=*/false).untrue;
  EXPECT_NE(early.find("no replica has applied"), std::string::npos) << early;
}

TEST(KvLoad, AnErrorIsNoReply) {
  const Outcome outcome = Load(Store::kRefuses);
  EXPECT_EQ(outcome.ok, 0);
  EXPECT_EQ(outcome.untrue, "");
}

}  // namespace
}  // namespace depfast::kv
