// Public tests: a slow follower delays no command of any kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kv_world.h"
#include "testkit/environment.h"
#include "testkit/judged.h"

namespace depfast::kv {
namespace {

// A client that sends one command after the other to the leader, and measures the time.
class PatientClient {
 public:
  PatientClient(KvWorld& world, PeerId leader) : world_(world), leader_(leader) {}

  struct Times {
    Duration all{0};
    Duration longest{0};
  };

  // Each command and session, and nine reads for each write.
  Times Run() {
    times_ = {};
    const std::string session = std::to_string(Do("SESSION NEW").integer);
    for (const char* const write : {"SET x 1", "APPEND x 2", "INCR n", "MSET x 1 y 2", "SETNX z 1",
                                    "GETSET x 3", "CAS x 3 4", "DEL z", "SESSION NEW 100"}) {
      Do(write);
      for (int i = 0; i < 4; ++i) {
        Do("GET x");
        Do("MGET x y");
      }
      Do("EXISTS x z");
    }
    for (const char* const command : {" 1 INCR n", " 1 INCR n", " 2 GET x", " 3 STRLEN x"}) {
      Do("SESSION " + session + command);
    }
    return times_;
  }

 private:
  Reply Do(const std::string& line) {
    const Time begin = world_.cluster.now();
    const Reply reply = world_.DoAt(leader_, Words(line));
    EXPECT_NE(reply.kind, Reply::Kind::kError) << line << ": " << reply.text;
    const Duration time = world_.cluster.now() - begin;
    times_.all += time;
    times_.longest = std::max(times_.longest, time);
    return reply;
  }

  KvWorld& world_;
  const PeerId leader_;
  Times times_;
};

GRADED_TEST(KvFailSlow, ASlowFollowerDelaysNoCommand, "reads", 2,
            "One slow follower delays no command, no session and no read: late by 10 or by 400 ms, "
            "and after it has recovered.") {
  KvWorld world({.replicas = 3, .seed = 755});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const PeerId follower = world.Others(leader).front();
  PatientClient client(world, leader);
  const auto usual = client.Run();
  const auto expect_usual = [&](const char* when) {
    const Time begin = world.cluster.now();
    const auto [all, longest] = client.Run();
    if (all > 2 * usual.all || longest > 60ms) {
      testkit::RecordJudged({.rule = "commands are slow", .at = begin});
    }
    EXPECT_LE(all, 2 * usual.all) << "commands are slow " << when;
    EXPECT_LE(longest, 60ms) << "a command is slow " << when;
  };
  for (const faults::Fault& fault :
       {faults::NetSlow({follower}, 10ms), faults::NetSlow({follower}, 400ms),
        faults::FsDelay({follower}, 30ms), faults::CpuSlow({follower}, 5)}) {
    world.cluster.Begin(fault);
    for (int i = 0; i < 4; ++i) expect_usual("while one follower is");
    world.cluster.Heal();
    expect_usual("although no follower is any more");
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::kv
