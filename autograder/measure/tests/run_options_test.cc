#include "run_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

namespace depfast::measure {
namespace {

RunOptions Parse(const std::vector<std::string>& more) {
  std::vector<std::string> all = {"measure", "--mix=set", "--replica=r", "--roles=leader,follower"};
  all.insert(all.end(), more.begin(), more.end());
  std::vector<const char*> argv;
  for (const std::string& argument : all) argv.push_back(argument.c_str());
  return ParseRunOptions(static_cast<int>(argv.size()), argv.data());
}

// Why the command line is refused.
std::string Refusal(const std::vector<std::string>& more) {
  try {
    Parse(more);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "it is not refused";
}

TEST(RunOptions, HaveDefaults) {
  const RunOptions options = Parse({"--rate=12.5"});
  EXPECT_EQ(options.rate, 12.5);
  EXPECT_EQ(options.fault, "none");
  EXPECT_EQ(options.shape, "before");
  EXPECT_TRUE(options.slow.empty() && options.victim.empty());
}

TEST(RunOptions, AreRead) {
  const RunOptions options = Parse({"--rate=1000", "--seed=18446744073709551615", "--slow=1,3",
                                    "--shape=flapping", "--fault=dead", "--replicas=5"});
  EXPECT_EQ(options.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(options.slow, (std::vector<int>{1, 3}));
  EXPECT_EQ(options.shape, "flapping");
  const RunOptions both = Parse({"--rate=1", "--victim=leader", "--slow=2"});
  EXPECT_EQ(both.victim, "leader");
  EXPECT_EQ(both.slow, std::vector<int>{2});
  EXPECT_EQ(Parse({"--rate=1", "--perturb=7", "--perturb=8"}).perturb, 8) << "the last counts";
}

TEST(RunOptions, NameAClosedLoopAndAnyStrength) {
  const RunOptions options = Parse({"--clients=8", "--clients-at=all", "--value-bytes=1024",
                                    "--fault=net-slow:2500000", "--shape=stages:100,200,300"});
  EXPECT_EQ(options.clients, 8);
  EXPECT_EQ(options.load.at, ClientsAt::kAll);
  EXPECT_EQ(options.load.value_bytes, 1024u);
  EXPECT_EQ(options.fault, "net-slow:2500000");
}

TEST(RunOptions, ThatMakeNoRunAreRefusedInOneLine) {
  const std::vector<std::vector<std::string>> bad = {
      {},
      {"--rate=0"},
      {"--rate=-1"},
      {"--rate=nan"},
      {"--rate=inf"},
      {"--rate=1000001"},
      {"--rate=fast"},
      {"--rate=1", "--seed=-1"},
      {"--rate=1", "--seed=18446744073709551616"},
      {"--rate=1", "--slow=0"},
      {"--rate=1", "--perturb=256"},
      {"--rate=1", "--twin=256"},
      {"--rate=1", "--slow=1,x"},
      {"--rate=1", "--shape=round"},
      {"--rate=1", "--fault=tired"},
      {"--rate=1", "--load=latency"},
      {"--rate=1", "--mix=weather"},
      {"--clients=0"},
      {"--clients=-1"},
      {"--clients=2", "--clients-at=home"},
      {"--clients=2", "--value-bytes=31"},
      {"--clients=2", "--costs-percent=0"},
      {"--clients=2", "--fault=net-slow:fast"},
      {"--clients=2", "--fault=cpu-slow:0"},
      {"--clients=2", "--fault=cut:1"},
      {"--clients=2", "--shape=stages:1,2"},
      {"--clients=2", "--shape=stages:1,0,3"},
      {"--clients=2", "--shape=stages:1,2,3,4"},
  };
  for (const auto& line : bad) {
    const std::string why = Refusal(line);
    EXPECT_NE(why, "it is not refused") << testing::PrintToString(line);
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  }
  EXPECT_EQ(Parse({"--rate=1", "--seed=010"}).seed, 10u) << "decimal";
  EXPECT_EQ(Refusal({"--rate=nan"}), "--rate: must be above 0, and at most 1,000,000");
}

}  // namespace
}  // namespace depfast::measure
