// Note: a replica's own words reach their sink, and change nothing else.
#include "depfast/note.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/host/service.h"
#include "sim/step_host.h"
#include "world.h"

namespace depfast::sim {
namespace {

// Each replica notes when it starts, and replica 1 again after 5 ms.
class Noter : public Service {
 public:
  Noter(Runtime& runtime, std::string words) : runtime_(runtime), words_(std::move(words)) {}

  void Start() override {
    Note("%s", words_.c_str());
    if (runtime_.self() != 1) return;
    runtime_.Spawn("note", [this] {
      runtime_.Sleep(5ms);
      Note("%d of %zu", runtime_.self(), words_.size());
    });
  }

 private:
  Runtime& runtime_;
  const std::string words_;
};

struct HeardNote {
  PeerId replica;
  Time at;
  std::string words;

  bool operator==(const HeardNote&) const = default;
};

struct NotedRun {
  std::vector<HeardNote> heard;
  std::uint64_t hash = 0;
};

NotedRun RunNoters(const std::string& words, bool with_sink = true) {
  NotedRun run;
  const NoteSink sink = [&run](const Runtime& runtime, std::string_view what) {
    run.heard.push_back({runtime.self(), runtime.Now(), std::string(what)});
  };
  const auto make = [&words](Runtime& runtime) { return std::make_unique<Noter>(runtime, words); };
  World world(InProcessReplicas(make, nullptr, with_sink ? sink : NoteSink()), 2, Exact(), 1);
  world.sim.Start();
  world.sim.RunUntil(10ms);
  run.hash = world.sim.trace().hash();
  return run;
}

TEST(Note, ReachesTheSinkWithItsReplicaAndTime) {
  const std::vector<HeardNote> expected = {
      {0, 0ms, "hello"}, {1, 0ms, "hello"}, {1, 5ms, "1 of 5"}};
  EXPECT_EQ(RunNoters("hello").heard, expected);
}

TEST(Note, IsOneLineOfLimitedLength) {
  EXPECT_EQ(RunNoters("two\nlines\n").heard.at(0).words, "two lines ");
  EXPECT_EQ(RunNoters("").heard.at(0).words, "");
  EXPECT_EQ(RunNoters(std::string(kNoteBytesMax, 'x')).heard.at(0).words.size(), kNoteBytesMax);
  EXPECT_EQ(RunNoters(std::string(kNoteBytesMax + 1, 'x')).heard.at(0).words.size(), kNoteBytesMax);
}

TEST(Note, CrossesNoHost) {
  const NotedRun with = RunNoters("hello");
  EXPECT_EQ(RunNoters("other words").hash, with.hash);
  const NotedRun without = RunNoters("hello", false);
  EXPECT_EQ(without.hash, with.hash);
  EXPECT_TRUE(without.heard.empty());
}

}  // namespace
}  // namespace depfast::sim
