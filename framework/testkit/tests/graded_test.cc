// A lab's suite in small: graded tests, one that fails on request, and one that is not
// deterministic.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sample.h"
#include "testkit/client.h"
#include "testkit/cluster.h"
#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

// Asks replica 0, and expects this answer. The history of a failure is that of the clusters alive.
template <typename Request>
void Expect(const Request& request, const std::string& expected) {
  Cluster cluster({.replicas = 2, .seed = 5});
  cluster.Start();
  Client client(cluster.simulator());
  std::string answer = "nothing";
  bool ended = false;
  client.Call(0, request, 1s, [&](const std::optional<TextReply>& reply) {
    if (reply) answer = reply->text;
    ended = true;
  });
  cluster.Note("asked");
  EXPECT_TRUE(cluster.RunUntil([&] { return ended; }, 2s));
  EXPECT_EQ(answer, expected);
}

GRADED_TEST(Graded, Says, "1A", 3, "What is said is \"said\" back, byte\\for byte.") {
  Expect(Echo{"this"}, "this");
}

GRADED_TEST(Graded, Confesses, "1B", 4, "Where things are in memory is nobody's business.") {
  Expect(Confess{}, "done");
}

GRADED_TEST(Graded, Fails, "1B", 0, "It fails when it ought to.") {
  Expect(Echo{"this"}, std::getenv("FAILSLOW_SAMPLE_FAILS") != nullptr ? "that" : "this");
}

// For flags_test.py alone: no test survives it.
TEST(Memory, DISABLED_HasALimit) {
  const Cluster cluster({.replicas = 2, .seed = 5});
  std::vector<std::unique_ptr<char[]>> kept;
  for (;;) kept.push_back(std::make_unique_for_overwrite<char[]>(std::size_t{256} << 20));
}

}  // namespace
}  // namespace depfast::testkit
