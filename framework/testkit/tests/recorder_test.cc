// Recorder: its lines, and that recording does not change the run.
#include "testkit/recorder.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "notes.h"
#include "testkit/client.h"
#include "testkit/cluster.h"
#include "testkit/environment.h"
#include "testkit/judged.h"

namespace depfast::testkit {
namespace {

// Makes clusters record while it lives, into a file of the test's own.
class Recorded {
 public:
  Recorded() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "record-" + test->name();
    std::filesystem::remove(path_);
    TheEnvironment().record = path_;
  }
  ~Recorded() {
    TheEnvironment().record.clear();
    std::filesystem::remove(path_);
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  std::string All() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  // The first line that holds all of these.
  std::string Line(const std::vector<std::string>& parts) const {
    std::istringstream lines(All());
    for (std::string line; std::getline(lines, line);) {
      bool all = true;
      for (const std::string& part : parts) all = all && line.find(part) != std::string::npos;
      if (all) return line;
    }
    return "";
  }
  bool Has(const std::vector<std::string>& parts) const { return !Line(parts).empty(); }

 private:
  std::string path_;
};

// The number after `"id":`.
std::string IdIn(const std::string& line) {
  const std::size_t begin = line.find("\"id\":");
  return line.substr(begin, line.find_first_of(",}", begin) - begin);
}

void KeepNotes(Cluster& cluster, int notes, std::size_t bytes = 4) {
  Client client(cluster.simulator());
  for (int i = 0; i < notes; ++i) {
    client.Call(0, Remember{std::string(bytes, 'x')}, 3s, [](const std::optional<Done>&) {});
  }
  cluster.RunFor(2s);
}

// A cluster that is recorded.
class RecorderTest : public testing::Test {
 protected:
  const Recorded recorded_;
  Cluster cluster_{{.replicas = 3, .seed = 1}};
};

// With everything in it that a recorder hears of.
std::uint64_t TraceOfAnEventfulRun() {
  ClusterOptions options{.replicas = 3, .seed = 3};
  options.profile.net.window_bytes = 4096;
  Cluster cluster(options);
  cluster.Schedule(
      {faults::CpuSlow({2}, 1).From(1ms).For(1s), faults::DropFault({0}, 300).From(2ms),
       faults::DuplicateFault({1}, 500).From(0s), faults::CrashFault({1}).From(1s).For(500ms)});
  cluster.Start();
  cluster.simulator().At(1800ms, [&] { cluster.Heal(); });
  KeepNotes(cluster, 50, 1024);
  return cluster.simulator().trace().hash();
}

TEST(Recorder, ConcludesWithTheGraph) {
  const Recorded recorded;
  {
    Cluster cluster({.replicas = 3, .seed = 3});
    cluster.Start();
    KeepNotes(cluster, 5);
  }
  EXPECT_TRUE(
      recorded.Has({R"("do":"verification")", R"("warnings":[])",
                    R"("from":1000,"to":[0],"color":"red","needed":1,"total":1)", R"("count":5)"}));
}

TEST(Recorder, ChangesNothing) {
  const std::uint64_t unrecorded = TraceOfAnEventfulRun();
  const Recorded recorded;
  EXPECT_EQ(TraceOfAnEventfulRun(), unrecorded);
  for (const char* what :
       {"wire", "arrive", "lose", "release", "read", "held", "woke", "heal", "restart"}) {
    EXPECT_TRUE(recorded.Has({std::string("\"do\":\"") + what + "\""})) << what;
  }
  EXPECT_TRUE(recorded.Has({"\"again\":true"})) << "a duplicate";
}

TEST_F(RecorderTest, FollowsAMessage) {
  cluster_.Start();
  KeepNotes(cluster_, 1);
  EXPECT_TRUE(recorded_.Has({"\"do\":\"world\"", "\"seed\":", "\"replicas\":3"}));
  EXPECT_TRUE(recorded_.Has({"\"do\":\"method\"", "\"id\":2", "\"name\":\"Store\""}));
  const std::string sent = recorded_.Line({"\"do\":\"send\"", "\"from\":0,\"to\":2"});
  EXPECT_NE(sent.find("\"kind\":\"request\",\"method\":2"), std::string::npos) << sent;
  EXPECT_NE(sent.find("\"dep\":\"client call 1\""), std::string::npos) << sent;
  EXPECT_NE(sent.find(R"("body":"[\"xxxx\"]")"), std::string::npos) << sent;
  for (const char* stage : {"wire", "arrive", "read"}) {
    EXPECT_TRUE(recorded_.Has({std::string("\"do\":\"") + stage + "\"", IdIn(sent) + "}"}))
        << stage;
  }
  EXPECT_TRUE(recorded_.Has({"\"do\":\"send\"", "\"from\":1000,\"to\":0", "\"method\":1"}));
}

TEST_F(RecorderTest, CutsLongBodiesOff) {
  cluster_.Start();
  KeepNotes(cluster_, 1, 100'000);
  EXPECT_TRUE(recorded_.Has({"xxx\\\"... (100000 bytes)]"})) << recorded_.All().substr(0, 5000);
  EXPECT_LT(recorded_.Line({"\"do\":\"send\""}).size(), 1000U);
}

TEST_F(RecorderTest, NamesWhatWasWaitedFor) {
  cluster_.Start();
  cluster_.Crash(1);
  cluster_.Crash(2);
  KeepNotes(cluster_, 1);
  EXPECT_TRUE(
      recorded_.Has({"\"do\":\"wait\"", "\"name\":\"Remember\"", "\"needed\":1,\"total\":2"}));
  EXPECT_TRUE(recorded_.Has({"\"do\":\"wait\"", "\"peers\":\"1 pending, 2 pending\""}));
  EXPECT_TRUE(recorded_.Has({"\"do\":\"woke\"", "\"outcome\":\"timed out\""}));
}

TEST_F(RecorderTest, FramesToADeadReplicaAreLost) {
  cluster_.Start();
  cluster_.Crash(2);
  KeepNotes(cluster_, 1);
  EXPECT_TRUE(recorded_.Has({"\"do\":\"death\"", "\"replica\":2", "\"why\":\"crash\""}));
  const std::string sent = recorded_.Line({"\"do\":\"send\"", "\"from\":0,\"to\":2"});
  EXPECT_TRUE(recorded_.Has({"\"do\":\"lose\"", IdIn(sent) + "}"})) << sent;
}

TEST_F(RecorderTest, KnowsViolationsAndFailures) {
  cluster_.Start();
  cluster_.RunFor(5ms);
  cluster_.history().AddViolation(cluster_.now(), "good manners", "replica 1 shouts");
  EXPECT_NONFATAL_FAILURE(ADD_FAILURE() << "that hurts", "that hurts");
  EXPECT_TRUE(recorded_.Has({"\"do\":\"note\"", "\"t\":5000000",
                             "VIOLATION of good manners: replica 1 shouts\",\"violation\":true"}));
  EXPECT_EQ(cluster_.history().size(), 1U);
}

// Complains of the first step that it hears of.
class Complainer : public sim::Observer {
 public:
  explicit Complainer(History& history) : history_(history) {}
  PeerId replica() const { return replica_; }

 private:
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput&) override {
    if (replica_ != kNobody) return;
    replica_ = replica;
    history_.AddViolation(input.now, "silence", "there is a step");
  }

  History& history_;
  PeerId replica_ = kNobody;
};

TEST_F(RecorderTest, AViolationHasTheReplicaThatItsCheckerHearsOf) {
  Complainer complainer(cluster_.history());
  cluster_.simulator().AddObserver(&complainer);
  cluster_.Start();
  cluster_.RunFor(5ms);
  ASSERT_NE(complainer.replica(), kNobody);
  const std::string replica = std::to_string(complainer.replica());
  EXPECT_TRUE(recorded_.Has({"there is a step\",\"violation\":true,\"replica\":" + replica + "}"}));
}

TEST_F(RecorderTest, AViolationHasItsFrameAndTheStepsBeforeIt) {
  {
    FrameHeader header;
    header.kind = FrameKind::kReply;
    header.method = 7;
    header.call = 3;
    const auto frame = std::make_shared<const std::string>(EncodeFrame(header, std::string()));
    const History::FrameScope scope(&cluster_.history(), frame);
    cluster_.history().AddViolation(cluster_.now(), "good manners", "replica 1 shouts",
                                    {{2, 1ms, true, "It was shouted at."}});
  }
  cluster_.history().AddViolation(cluster_.now(), "good manners", "replica 2 shouts");
  EXPECT_TRUE(recorded_.Has({"replica 1 shouts\",\"violation\":true,",
                             "\"frame\":{\"kind\":\"reply\",\"method\":7,\"call\":\"3\"}",
                             "\"earlier\":[{\"replica\":2,\"at\":1000000,\"read\":true,"
                             "\"why\":\"It was shouted at.\"}]}"}));
  EXPECT_TRUE(recorded_.Has({"replica 2 shouts\",\"violation\":true}"}));
}

TEST_F(RecorderTest, KnowsWhatATestHasJudged) {
  RecordJudged({"good manners", 1, 2ms});
  RecordJudged({.rule = "it is slow", .at = 1ms});
  EXPECT_TRUE(recorded_.Has(
      {"\"do\":\"judged\"", "\"rule\":\"good manners\",\"at\":2000000,\"replica\":1}"}));
  EXPECT_TRUE(recorded_.Has({"\"rule\":\"it is slow\",\"at\":1000000}"}));
}

TEST_F(RecorderTest, WritesWhatATestTellsOfItsRun) {
  ASSERT_NE(cluster_.recorder(), nullptr);
  cluster_.recorder()->Add(Recorder::Operation{.client = 4,
                                               .begin = 1ms,
                                               .end = 3ms,
                                               .command = "GET x",
                                               .reply = "\"1\"",
                                               .is_marked = true});
  cluster_.recorder()->Add(Recorder::Operation{.begin = 2ms, .command = "SET x 1"});
  cluster_.recorder()->Add(Recorder::Mark{
      .at = 2ms, .replica = 1, .text = "voter 2 says no", .vote = "no", .is_wrong = false});
  EXPECT_TRUE(
      recorded_.Has({"\"do\":\"operation\"", "\"client\":4,\"begin\":1000000,\"end\":3000000",
                     R"("command":"GET x","reply":"\"1\"","marked":true)"}));
  EXPECT_TRUE(recorded_.Has({"\"begin\":2000000,\"end\":null", "\"marked\":false"}));
  EXPECT_TRUE(recorded_.Has({"\"do\":\"mark\"", "\"at\":2000000,\"replica\":1",
                             "\"text\":\"voter 2 says no\",\"vote\":\"no\",\"wrong\":false"}));
}

TEST(Recorder, ARunThatIsNotRecordedHasNoRecorder) {
  Cluster cluster({.replicas = 3, .seed = 1});
  EXPECT_EQ(cluster.recorder(), nullptr);
}

TEST(Recorder, ClustersAliveAtTheSameTimeAreToldApart) {
  const Recorded recorded;
  Cluster one({.replicas = 3, .seed = 1});
  const std::string first = recorded.Line({"\"do\":\"world\""});
  Cluster other({.replicas = 2, .seed = 1});
  one.Note("of the first");
  const std::string number =
      first.substr(first.find("\"w\":"), first.find(",\"t\":") - first.find("\"w\":"));
  EXPECT_TRUE(recorded.Has({"of the first", number + ","}));
  EXPECT_FALSE(recorded.Has({"\"replicas\":2", number + ","}));
}

}  // namespace
}  // namespace depfast::testkit
