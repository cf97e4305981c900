// Replicas in processes of their own. A correct one behaves like a replica in the simulator's
// process. Every failure of a misbehaving one becomes a sentence, and leaves no process and no
// descriptor behind.
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/frame.h"
#include "depfast/verify/wait_statistics.h"
#include "replicas/trouble.h"
#include "replicas/well.h"
#include "sealed/sandbox/sandbox.h"
#include "sealed/sealed_backend.h"
#include "sim/step_host.h"
#include "sim/tests/world.h"

namespace depfast::sealed_tests {
namespace {

using sealed::Layer;
using sealed::SealedOptions;
using sealed::SealedReplicas;
using sim::World;

SealedOptions Program(const std::string& name, int perturb = 0) {
  SealedOptions options;
  options.program = std::string(REPLICA_PREFIX) + name;
  options.perturb = perturb;
  options.step_cpu_seconds_max = 1;
  return options;
}

bool HasLayer(Layer layer) { return sealed::LayersOfThisMachine().Has(layer); }

// For the names of tests.
std::string LettersOf(std::string text) {
  std::erase_if(text, [](char each) { return std::isalpha(each) == 0; });
  return text;
}

sim::BackendFactory WellInThisProcess() {
  return sim::InProcessReplicas(
      [](Runtime& runtime) { return std::make_unique<WellBehaved>(runtime); });
}

template <typename Request>
Bytes FrameOf(CallId call, const Request& request) {
  return MakeBytes(EncodeFrame(
      {FrameKind::kRequest, Request::kMethod, call, Dependency::Client(call)}, request));
}

// The text of an answer, or what is wrong with it.
std::string AnswerIn(const Bytes& bytes) {
  std::string error;
  const auto frame = DecodeFrame(*bytes, error);
  const auto reply = DecodeBody<TextReply>(frame->body, error);
  return reply ? reply->text : error;
}

std::size_t OpenDescriptors() {
  const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// Ends with no child process and no descriptor more than it began with.
class SealedTest : public testing::Test {
 protected:
  SealedTest() {
    // Orphans of a replica become children of this process, so that the test sees them.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sealed::LayersOfThisMachine();  // keeps a descriptor
    descriptors_ = OpenDescriptors();
  }

  void TearDown() override {
    for (; orphans_ > 0; --orphans_) {
      int status = 0;
      ASSERT_GT(waitpid(-1, &status, 0), 0) << "an orphan was expected";
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(OpenDescriptors(), descriptors_);
  }

  // Children that replicas start and do not end.
  void ExpectOrphans(int count) { orphans_ = count; }

 private:
  std::size_t descriptors_ = 0;
  int orphans_ = 0;
};

// Replicas that make `probe`, too, unless it is empty.
sim::BackendFactory WithProbe(const sim::BackendFactory& make, const std::string& probe) {
  return [make, probe](sim::ReplicaConfig config) {
    if (!probe.empty()) config.probes.push_back(probe);
    return make(config);
  };
}

// One bad replica (0) among two, and a client that hears answers.
struct Trouble {
  explicit Trouble(std::string kind_of_trouble, const SealedOptions& options = Program("trouble"),
                   const std::string& probe = "")
      : kind(std::move(kind_of_trouble)),
        world(WithProbe(SealedReplicas(options), probe), 2, sim::Exact(), 1) {
    world.sim.AddClient([this](PeerId, const Bytes& bytes) { answers.push_back(AnswerIn(bytes)); });
    world.Start();
  }

  template <typename Request>
  void Ask(PeerId replica, const Request& request) {
    world.sim.ClientSend(kFirstClient, replica, FrameOf(++calls, request));
    world.sim.RunFor(10ms);
  }

  void Make() { Ask(0, MakeTrouble{kind}); }

  // Makes trouble, and returns the verdict. The others and the simulator must go on.
  std::string VerdictOn() {
    Make();
    Ask(1, Echo{"still here"});
    EXPECT_EQ(answers, (std::vector<std::string>{"still here"}));
    EXPECT_FALSE(world.sim.IsUp(0));
    EXPECT_TRUE(world.sim.IsUp(1));
    // And a new incarnation works.
    world.sim.Restart(0);
    world.sim.RunFor(1ms);
    Ask(0, Echo{"back again"});
    EXPECT_EQ(answers, (std::vector<std::string>{"still here", "back again"}));
    return world.sim.first_death();
  }

  const std::string kind;
  CallId calls = 0;
  std::vector<std::string> answers;
  World world;
};

void ExpectStart(const std::string& text, const std::string& start) {
  EXPECT_EQ(text.substr(0, start.size()), start) << text;
}

void ExpectPart(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// `words`, which end with "stack:" or "loop:", and offsets up to the end.
void ExpectWords(const std::string& text, const std::string& words) {
#ifdef DEPFAST_SANITIZED  // only the reason
  ExpectStart(text, words.substr(0, words.find_first_of(":\n", sizeof "replica 0 died:")));
#else
  ExpectStart(text, words);
  const std::string offsets = text.substr(std::min(text.size(), words.size()));
  EXPECT_GT(offsets.size(), 0) << text;
  EXPECT_EQ(offsets.find_first_not_of(" 0123456789abcdef"), std::string::npos) << text;
#endif
}

TEST_F(SealedTest, AReplicaThatOverflowsAStack) {
  const std::string death = Trouble("overflows").VerdictOn();
  ExpectStart(death,
              "replica 0 died: it crashed (Segmentation fault): stack overflow in coroutine ");
  ExpectPart(death, "'MakeTrouble'");
}

struct Verdict {
  const char* kind;
  // "..." stands for any words. Offsets follow "stack:" and "loop:" at the end.
  std::string words;
};

class BadReplica : public SealedTest, public testing::WithParamInterface<Verdict> {};

TEST_P(BadReplica, HasItsVerdict) {
  const std::string words = "replica 0 died: " + GetParam().words;
  const std::string death = Trouble(GetParam().kind).VerdictOn();
  if (words.ends_with("stack:") || words.ends_with("loop:")) {
    ExpectWords(death, words);
  } else if (words.ends_with("...")) {
    ExpectStart(death, words.substr(0, words.size() - 3));
  } else {
    EXPECT_EQ(death, words);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Replicas, BadReplica,
    testing::Values(
        Verdict{"exits", "its process exited with status 3"},
        Verdict{"segfaults",
                "it crashed (Segmentation fault): a null pointer was followed\n"
                "in coroutine 'MakeTrouble'\nstack:"},
        Verdict{"spins",
                "it never waits: one step used more than 1 s of processor time"
                " (a loop without a Wait?)\nin coroutine 'MakeTrouble'\nloop:"},
        Verdict{"drips", "it never waits: one step used more than 1 s of processor..."},
        Verdict{"throws", "an exception escaped: out of luck\nin coroutine 'thrower'\nstack:"},
        Verdict{"babbles", "it spoke nonsense to the simulator (..."},
        Verdict{"exaggerates", "it spoke nonsense to the simulator (a message of absurd length)"},
        Verdict{"hangs up", "it closed its connection to the simulator..."}),
    [](const auto& test) { return LettersOf(test.param.kind); });

// The test has failed, and five replicas that are started again and again would take hours.
TEST_F(SealedTest, AfterAReplicaThatNeverWaitsOthersHaveLessTime) {
  SealedOptions options = Program("trouble");
  options.step_cpu_seconds_max = 2;
  ExpectStart(Trouble("spins", options).VerdictOn(),
              "replica 0 died: it never waits: one step used more than 2 s of processor");
  ExpectStart(Trouble("spins", options).VerdictOn(),
              "replica 0 died: it never waits: one step used more than 0.2 s of processor");
  options.step_asleep_seconds_max = 5;
  ExpectStart(Trouble("blocks", options).VerdictOn(),
              "replica 0 died: it blocks outside the runtime: in a step it slept for 0.5 s");
}

TEST_F(SealedTest, AReplicaThatNeverRests) {
  SealedOptions options = Program("trouble");
  options.run_cpu_seconds_max = 1;
  Trouble trouble("never rests", options);
  trouble.Make();
  for (int i = 0; i < 1000 && trouble.world.sim.IsUp(0); ++i) trouble.world.sim.RunFor(10ms);
  ExpectStart(trouble.world.sim.first_death(),
              "replica 0 died: it never rests: the run took more than 1 s of processor time");
}

TEST_F(SealedTest, AReplicaThatBlocks) {
  SealedOptions options = Program("trouble");
  options.step_asleep_seconds_max = 2;
  const std::string death = Trouble("blocks", options).VerdictOn();
  ExpectStart(death, "replica 0 died: it blocks outside the runtime: in a step it slept for 2 s");
}

TEST_F(SealedTest, AReplicaThatCannotStart) {
  World world(SealedReplicas(Program("throws_early")), 2, sim::Exact(), 1);
  world.Start();
  ExpectWords(world.sim.first_death(),
              "replica 0 died: an exception escaped: no service today\nstack:");
  EXPECT_FALSE(world.sim.IsUp(1));
}

TEST_F(SealedTest, AReplicaThatPrintsALotWorksOn) {
  Trouble trouble("chatters");
  trouble.Make();
  trouble.Ask(0, Echo{"heard?"});
  EXPECT_EQ(trouble.answers, (std::vector<std::string>{"no trouble after all", "heard?"}));
  EXPECT_EQ(trouble.world.sim.first_death(), "");
  trouble.Make();
  EXPECT_EQ(trouble.world.sim.first_death(),
            "replica 0 died: its process exited with status 4: these are my last words");
}

TEST_F(SealedTest, AReplicaThatFillsItsLogWorksOn) {
  Trouble trouble("complains");
  for (int i = 0; i < 2; ++i) trouble.Make();
  trouble.Ask(0, Echo{"heard?"});
  EXPECT_EQ(trouble.answers,
            (std::vector<std::string>{"no trouble after all", "no trouble after all", "heard?"}));
  EXPECT_EQ(trouble.world.sim.first_death(), "");
}

TEST_F(SealedTest, AProgramThatIsNotThereOrIsNone) {
  try {
    SealedReplicas(Program("no_such_program"));
    FAIL() << "it is there";
  } catch (const std::runtime_error& error) {
    ExpectStart(error.what(), "cannot run ");
    ExpectPart(error.what(), "no_such_program: No such file or directory");
  }
  SealedOptions options;
  options.program = "/";
  EXPECT_THROW(SealedReplicas(options), std::runtime_error);
}

// The linker makes it of the code under test, which can ask for a strange file.
TEST_F(SealedTest, AFileThatIsNoProgramIsTheReplicasFault) {
  const std::string path = testing::TempDir() + "no_program";
  std::ofstream(path) << "neither a program nor a script";
  std::filesystem::permissions(path, std::filesystem::perms(0755));
  SealedOptions options;
  options.program = path;
  World world(SealedReplicas(options), 1, sim::Exact(), 1);
  world.Start();
  EXPECT_EQ(world.sim.first_death(), "replica 0 died: its program cannot be executed");
  std::filesystem::remove(path);
}

// ---- layers ----

#ifdef DEPFAST_SANITIZED  // no layer forbids a child

TEST_F(SealedTest, AReplicaThatLeavesAChildAndDies) {
  EXPECT_EQ(Trouble("forks").VerdictOn(), "replica 0 died: its process exited with status 5");
  ExpectOrphans(1);
}

TEST_F(SealedTest, AReplicaThatLeavesAChildAndLives) {
  Trouble trouble("forks and lives");
  trouble.Make();
  trouble.Ask(0, Echo{"heard?"});
  EXPECT_EQ(trouble.answers, (std::vector<std::string>{"no trouble after all", "heard?"}));
  ExpectOrphans(1);
}

#else

class OverTheWall : public SealedTest, public testing::WithParamInterface<const char*> {};

TEST_P(OverTheWall, IsDeath) {
  ASSERT_TRUE(HasLayer(Layer::kSystemCalls)) << "every supported kernel has such filters";
  EXPECT_EQ(Trouble(std::string("sandbox: ") + GetParam()).VerdictOn(),
            "replica 0 died: it made a system call that no replica may make (a file, a thread, a "
            "sleep?)");
}

INSTANTIATE_TEST_SUITE_P(Replicas, OverTheWall,
                         testing::Values("aborts another", "asks for another's group",
                                         "asks for the time", "connects", "draws",
                                         "executes a descriptor", "executes a path",
                                         "executes itself", "makes code", "shares memory",
                                         "stops itself", "raises a limit by an odd pointer",
                                         "kills all", "kills its parent", "maps a file",
                                         "makes a file", "opens a file", "raises a limit", "sleeps",
                                         "starts a child", "starts a thread", "traces its parent",
                                         "writes its parent's memory"),
                         [](const auto& test) { return LettersOf(test.param); });

TEST_F(SealedTest, AReplicaThatHoardsInAStepThatDoesNotEnd) {
  SealedOptions options = Program("trouble");
  options.step_cpu_seconds_max = 60;
  options.resident_bytes_max = std::size_t{32} << 20;
  EXPECT_EQ(Trouble("hoards and spins", options).VerdictOn(),
            "replica 0 died: its process uses more than 32 MB of memory");
}

// The time of a file's last change is the machine's clock.
TEST_F(SealedTest, AFileTellsNoTime) {
  Trouble trouble("dates a file");
  trouble.Make();
  EXPECT_EQ(trouble.answers, std::vector<std::string>{"no trouble after all"});
  EXPECT_EQ(trouble.world.sim.first_death(), "");
}

#ifdef __x86_64__
TEST_F(SealedTest, AReplicaThatReadsAClockIsTold) {
  const std::string death = Trouble("reads a clock", Program("trouble", 2)).VerdictOn();
  ExpectStart(death, "replica 0 died: it crashed (Segmentation fault): a clock was read");
  EXPECT_EQ(death.find("null pointer"), std::string::npos) << death;
}
#endif

#endif

// The lines "KEY:\tVALUE" of a process's status.
std::map<std::string, std::string> StatusOf(const std::string& process) {
  std::map<std::string, std::string> status;
  std::ifstream file("/proc/" + process + "/status");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    const auto value = line.find_first_not_of(" \t", colon + 1);
    status[line.substr(0, colon)] = value == std::string::npos ? "" : line.substr(value);
  }
  return status;
}

std::string FirstLineOf(const std::string& file) {
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  return line;
}

std::vector<std::string> Children() {
  std::vector<std::string> children;
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (std::string child; file >> child;) children.push_back(child);
  return children;
}

// The kernel's view of two replicas while they run.
TEST_F(SealedTest, EveryWallIsBuilt) {
  World world(SealedReplicas(Program("well")), 2, sim::Exact(), 1);
  world.Start();
  world.sim.RunFor(1ms);
  const auto children = Children();
  ASSERT_EQ(children.size(), 2U);
  std::set<std::string> users;
  for (const std::string& child : children) {
    auto status = StatusOf(child);
    EXPECT_EQ(status.at("NoNewPrivs"), "1");
    EXPECT_EQ(FirstLineOf("/proc/" + child + "/oom_score_adj"), "1000");
    EXPECT_EQ(status.at("Seccomp"), HasLayer(Layer::kSystemCalls) ? "2" : "0");
    if (HasLayer(Layer::kOwnUser)) {
      EXPECT_EQ(status.at("Groups"), "");
      EXPECT_NE(status.at("Uid").substr(0, 2), "0\t");
      EXPECT_NE(status.at("Gid").substr(0, 2), "0\t");
      users.insert(status.at("Uid"));
    }
    if (HasLayer(Layer::kNoCapabilities)) {
      EXPECT_EQ(status.at("CapBnd"), "0000000000000000");
    }
    if (HasLayer(Layer::kEmptyRoot)) {
      EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path("/proc") / child / "root"));
    }
  }
  if (HasLayer(Layer::kOwnUser)) {
    EXPECT_EQ(users.size(), 2U) << "each has a user of its own";
  }
}

#ifndef DEPFAST_SANITIZED
TEST_F(SealedTest, RootHasAllWallsThatTheKernelHas) {
  EXPECT_TRUE(HasLayer(Layer::kNoNewPrivilege));
  EXPECT_TRUE(HasLayer(Layer::kSystemCalls));
  const bool landlock =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
  EXPECT_EQ(HasLayer(Layer::kLandlock), landlock);
  if (geteuid() != 0) return;
  EXPECT_TRUE(HasLayer(Layer::kEmptyRoot));
  EXPECT_TRUE(HasLayer(Layer::kOwnUser));
  EXPECT_TRUE(HasLayer(Layer::kNoCapabilities));
}
#endif

// ---- the same everywhere ----

struct Transcript {
  std::uint64_t hash = 0;
  std::uint64_t crossings = 0;
  std::vector<std::string> lines;
  std::vector<std::string> answers;
};

Transcript RunWell(const sim::BackendFactory& factory) {
  Transcript out;
  World world(factory, 3, sim::Profile::Lab(), 7);
  world.sim.trace().set_writer([&](const std::string& line) { out.lines.push_back(line); });
  const PeerId client = world.sim.AddClient(
      [&](PeerId, const Bytes& bytes) { out.answers.push_back(AnswerIn(bytes)); });
  world.Start();
  world.sim.Schedule({faults::CrashFault({1}).From(30ms).For(30ms),
                      faults::DropFault({2}, 300).From(70ms).For(50ms)});
  for (CallId call = 1; call <= 30; ++call) {
    const auto replica = static_cast<PeerId>(call % 3);
    world.sim.ClientSend(client, replica, FrameOf(call, Echo{std::to_string(call)}));
    world.sim.RunFor(5ms);
  }
  EXPECT_EQ(world.sim.first_death(), "");
  out.hash = world.sim.trace().hash();
  out.crossings = world.sim.trace().crossings();
  return out;
}

TEST_F(SealedTest, ADeterministicReplicaIsTheSameEverywhere) {
  const Transcript here = RunWell(WellInThisProcess());
  EXPECT_GT(here.crossings, 500U);
  EXPECT_GT(here.answers.size(), 15U);
  for (const int perturb : {0, 1, 2}) {
    const Transcript there = RunWell(SealedReplicas(Program("well", perturb)));
    EXPECT_EQ(there.answers, here.answers) << perturb;
    EXPECT_EQ(there.lines, here.lines) << perturb;
    EXPECT_EQ(there.hash, here.hash) << perturb;
    EXPECT_EQ(there.crossings, here.crossings) << perturb;
  }
}

TEST_F(SealedTest, ReplicasInGroupsAreTheSameEverywhere) {
  const auto run = [](const sim::BackendFactory& factory) {
    sim::SimOptions options;
    options.seed = 7;
    options.make_backend = factory;
    options.groups = {2, 2};
    sim::Simulator simulator(options);
    std::vector<std::string> answers;
    const PeerId client = simulator.AddClient(
        [&](PeerId, const Bytes& bytes) { answers.push_back(AnswerIn(bytes)); });
    simulator.Start();
    simulator.Schedule({faults::CrashFault({0})});
    for (CallId call = 1; call <= 4; ++call) {
      simulator.ClientSend(client, 3, FrameOf(call, Echo{"a"}));
      simulator.RunFor(100ms);
    }
    EXPECT_EQ(answers, std::vector<std::string>(4, "a!")) << "replica 3 asks replica 2 alone";
    return simulator.trace().hash();
  };
  EXPECT_EQ(run(SealedReplicas(Program("well"))), run(WellInThisProcess()));
}

// ---- twins ----

// Fresh memory is even in the replica, and odd in its twin.
SealedOptions WithTwins(const std::string& program) {
  SealedOptions options = Program(program, 1);
  options.twin_perturb = 254;
  options.step_asleep_seconds_max = 2;
  return options;
}

// The result of the twins, and the death, of a replica that is asked for trouble among other
// things.
std::pair<std::string, std::string> TwinsAndDeath(const std::string& kind) {
  const SealedOptions options = WithTwins("trouble");
  std::string death;
  {
    Trouble trouble(kind, options);
    for (int i = 0; i < 20; ++i) trouble.Ask(0, Echo{std::string(20'000, 'x')});
    trouble.Make();
    for (int i = 0; i < 20; ++i) trouble.Ask(0, Echo{std::string(20'000, 'y')});
    death = trouble.world.sim.first_death();
  }
  return {TwinsInWords(*options.findings), death};
}

std::string TwinsOf(const std::string& kind) { return TwinsAndDeath(kind).first; }

TEST_F(SealedTest, TwinsOfADeterministicReplicaAreTheSame) {
  const SealedOptions options = WithTwins("well");
  const Transcript alone = RunWell(SealedReplicas(Program("well")));
  EXPECT_EQ(RunWell(SealedReplicas(options)).lines, alone.lines);
  EXPECT_EQ(TwinsInWords(*options.findings), "same");
}

TEST_F(SealedTest, ATwinFollowsItsReplicaToTheEnd) {
  for (const char* kind : {"exits", "segfaults", "overflows", "throws", "hangs up"}) {
    const auto [twins, death] = TwinsAndDeath(kind);
    EXPECT_EQ(twins, "same") << kind;
    EXPECT_NE(death, "") << kind;
  }
}

// More than the pipes hold, both ways.
TEST_F(SealedTest, ATwinIsSentMoreThanAPipeHolds) {
  const SealedOptions options = WithTwins("trouble");
  {
    Trouble trouble("shows memory", options);
    for (int i = 0; i < 4; ++i) trouble.Ask(0, Echo{std::string(3'000'000, 'x')});
    trouble.world.sim.RunFor(1s);
    EXPECT_EQ(trouble.answers.size(), 4U);
  }
  EXPECT_EQ(TwinsInWords(*options.findings), "same");
}

TEST_F(SealedTest, ATwinThatDiffersInAddressesIsSeen) {
  EXPECT_EQ(TwinsOf("shows address"), "differ");
}

TEST_F(SealedTest, TheMachineMayKillATwin) {
  const SealedOptions options = WithTwins("trouble");
  {
    Trouble trouble("exits", options);
    trouble.Ask(0, Echo{std::string(300'000, 'x')});
    const auto children = Children();
    ASSERT_EQ(children.size(), 3U) << "the twin starts with its first batch";
    kill(std::stoi(children[2]), SIGKILL);
    trouble.Ask(0, Echo{"after"});
  }
  EXPECT_EQ(TwinsInWords(*options.findings), "the machine killed a twin: no memory is left");
}

#ifndef DEPFAST_SANITIZED

TEST_F(SealedTest, ATwinThatDiffersInMemoryIsSeen) { EXPECT_EQ(TwinsOf("shows memory"), "differ"); }

TEST_F(SealedTest, ATwinThatGoesOnWithoutItsReplicaDiffers) {
  const auto [twins, death] = TwinsAndDeath("even: exits");
  EXPECT_EQ(twins, "differ");
  EXPECT_EQ(death, "replica 0 died: its process exited with status 3");
}

class OnlyTheTwin : public SealedTest, public testing::WithParamInterface<const char*> {};

TEST_P(OnlyTheTwin, IsSeenAndHarmsNothing) {
  const auto [twins, death] = TwinsAndDeath(std::string("odd: ") + GetParam());
  EXPECT_EQ(twins, "differ");
  EXPECT_EQ(death, "");
}

INSTANTIATE_TEST_SUITE_P(Twins, OnlyTheTwin,
                         testing::Values("babbles", "blocks", "drips", "exaggerates", "exits",
                                         "hangs up", "overflows", "reads a clock", "segfaults",
                                         "shows memory", "spins", "throws", "sandbox: sleeps"),
                         [](const auto& test) { return LettersOf(test.param); });

#endif

// ---- memory ----

// The heaps that replica 0 reports when it is asked for nothing, hoards, and returns all.
std::vector<std::uint64_t> HeapsOfAHoarder(int perturb, const std::string& probe = "",
                                           const std::string& kind = "hoards") {
  Trouble trouble(kind, Program("trouble", perturb), probe);
  const auto last = [&] { return trouble.world.StepsOf(0).back().heap_bytes; };
  std::vector<std::uint64_t> heaps;
  trouble.Ask(0, Echo{"nothing"});
  for (int i = 0; i < 2; ++i) {
    trouble.Ask(0, Echo{"nothing"});
    heaps.push_back(last());
    trouble.Make();
  }
  trouble.Ask(0, Echo{"nothing"});
  heaps.push_back(last());
  EXPECT_EQ(trouble.world.sim.first_death(), "");
  return heaps;
}

TEST_F(SealedTest, TheHeapIsWhatWasRequestedAndIsNotReturned) {
  const auto heaps = HeapsOfAHoarder(0);
  EXPECT_GT(heaps[0], 100U);
  EXPECT_LT(heaps[0], 100'000U);
  EXPECT_EQ(heaps[1], heaps[0] + 1'000'064);
  EXPECT_EQ(heaps[2], heaps[0]);
}

#ifndef DEPFAST_SANITIZED  // it has an allocator of its own

TEST_F(SealedTest, MemoryOfTheCLibraryIsInTheHeap) {
  const auto heaps = HeapsOfAHoarder(0, "", "hoards in C");
  EXPECT_EQ(heaps[1], heaps[0] + 1'000'064);
  EXPECT_EQ(heaps[2], heaps[0]);
}

#endif

TEST_F(SealedTest, TheHeapIsTheSameEverywhere) {
  const auto heaps = HeapsOfAHoarder(0);
  for (const int perturb : {1, 2, 3}) EXPECT_EQ(HeapsOfAHoarder(perturb), heaps) << perturb;
  EXPECT_EQ(HeapsOfAHoarder(0, WaitStatistics::kName), heaps) << "probes are not the replica's";
}

TEST_F(SealedTest, MemoryContentionKillsAHoarderUntilItEnds) {
  Trouble trouble("hoards");
  const faults::Fault contention = faults::MemoryContention({0, 1}, 250'000);
  trouble.world.sim.Begin(contention);
  trouble.Make();
  EXPECT_TRUE(trouble.world.sim.IsUp(0)) << "its step was paid for before";
  trouble.Ask(0, Echo{"heard?"});
  trouble.Ask(0, Echo{"heard?"});
  EXPECT_FALSE(trouble.world.sim.IsUp(0));
  EXPECT_TRUE(trouble.world.sim.IsUp(1));
  EXPECT_EQ(trouble.world.sim.first_death(), "") << "the fault's deed, not the replica's";
  trouble.world.sim.End(contention);
  EXPECT_TRUE(trouble.world.sim.IsUp(0));
}

TEST_F(SealedTest, MemoryThatTheHeapDoesNotCountIsSeen) {
  SealedOptions options = Program("trouble");
  options.resident_bytes_max = std::size_t{32} << 20;
  Trouble trouble("hoards elsewhere", options);
  constexpr int kSteps = 300;
  for (int i = 0; i < kSteps; ++i) trouble.Ask(0, Echo{"nothing"});
  EXPECT_EQ(trouble.world.sim.first_death(), "");
  trouble.Make();
  for (int i = 0; i < kSteps; ++i) trouble.Ask(0, Echo{"nothing"});
  EXPECT_EQ(trouble.world.sim.first_death(),
            "replica 0 died: its process uses more than 32 MB of memory");
}

// ---- dumps ----

TEST_F(SealedTest, DumpsAndReportsComeFromTheProcess) {
  const auto look = [](const sim::BackendFactory& factory) {
    sim::SimOptions options{2, 1, sim::Exact(), factory, {WaitStatistics::kName}};
    sim::Simulator simulator(options);
    const PeerId client = simulator.AddClient([](PeerId, const Bytes&) {});
    simulator.Start();
    simulator.RunUntil(1ms);
    simulator.ClientSend(client, 0, FrameOf(1, Echo{"x"}));
    simulator.RunFor(400us);  // it waits for its disk
    const std::string report = simulator.Report(0, WaitStatistics::kName);
    EXPECT_FALSE(WaitStatistics::Read(report).value().empty());
    return simulator.DumpCoroutines(0) + report;
  };
  const std::string here = look(WellInThisProcess());
  ExpectPart(here, "Echo");
  EXPECT_EQ(look(SealedReplicas(Program("well"))), here);
}

// ---- nondeterminism ----

// The lines of a run of a replica that is asked for trouble.
std::vector<std::string> LinesUnder(const std::string& kind, int perturb) {
  std::vector<std::string> lines;
  Trouble trouble(kind, Program("trouble", perturb));
  trouble.world.sim.trace().set_writer([&](const std::string& line) { lines.push_back(line); });
  trouble.Ask(0, Echo{"before"});
  trouble.Make();
  EXPECT_EQ(trouble.world.sim.first_death(), "");
  return lines;
}

std::string FirstDifference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) return a[i];
  }
  return a.size() == b.size() ? "" : "an end";
}

TEST_F(SealedTest, PerturbationShowsThatAddressesReachTheHost) {
  const auto first = LinesUnder("shows address", 1);
  ExpectPart(FirstDifference(first, LinesUnder("shows address", 2)), " replica 0 observe 1 ");
  // Where the machine lets us choose (a container may not), odd perturbations have one layout.
  const int persona = personality(0xffffffff);
  if (personality(static_cast<unsigned>(persona) | ADDR_NO_RANDOMIZE) == -1) return;
  personality(static_cast<unsigned>(persona));
  EXPECT_EQ(FirstDifference(first, LinesUnder("shows address", 1)), "");
}

// The sanitizer's malloc is not perturbed.
#ifndef DEPFAST_SANITIZED
TEST_F(SealedTest, PerturbationShowsThatUnwrittenMemoryReachesTheHost) {
  const auto first = LinesUnder("shows memory", 1);
  ExpectPart(FirstDifference(first, LinesUnder("shows memory", 2)), " replica 0 observe 1 ");
  EXPECT_EQ(FirstDifference(first, LinesUnder("shows memory", 1)), "");
}
#endif

}  // namespace
}  // namespace depfast::sealed_tests
