// Environment: the command line of a test binary, and the source of its replicas.
//
// One source of tests makes two binaries. The `_sim` one links the code under test and runs it in
// the same process; the `_sealed` one links none and runs each replica as a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "depfast/host/probe.h"
#include "depfast/note.h"
#include "faults/fault.h"
#include "sim/step.h"
#include "testkit/explorer.h"

namespace depfast::testkit {

struct Environment {
  std::uint64_t seed = 1;  // --seed=N: the base of every seed a test uses
  std::string replica;     // --replica=PATH: the sealed replica's program
  int perturb = 0;         // --perturb=N: see sealed::SealedOptions
  int twin = 0;            // --twin=N: each sealed replica has a twin, perturbed so; 0: none has
  std::string history;     // --history=FILE: write the numbered history there, pass or fail
  std::string trace;       // --trace=FILE: one line per Host crossing
  std::string record;      // --record=FILE: see Recorder
  int shrink = 0;          // --shrink=N: see RunChaos
  bool progress = false;   // --progress: print the progress of an exploration
  std::size_t states_max = 100'000;  // --states=N: of each scope of an exploration of rules
  Bound bound;                       // --bound=N,...: of a test that explores up to this bound
  // --under-way=FILE: a test that explores writes each schedule there before it runs.
  std::string under_way;
  // --schedule=FILE: a test that explores performs this schedule and no other.
  std::optional<faults::FaultPlan> schedule = std::nullopt;
  bool dry_run = false;  // clusters leave no trace of themselves
};

// The environment of this process. Set once, by main.
Environment& TheEnvironment();

// Starts replicas of this binary; defined by replicas_sim.cc or replicas_sealed.cc. `probe`:
// null, or it outlives the replicas. It and `notes` hear nothing of sealed ones.
sim::BackendFactory ReplicasUnderTest(RuntimeProbe* probe = nullptr, const NoteSink& notes = {});

// Whether all twins of the test under way answered as their replicas: "same" or "differ", or why
// the machine could not tell. Empty without twins. Requires: the test's clusters are gone.
std::string TwinsOfThisTest();

// Throws std::invalid_argument, in one line, if the environment lacks a setting that this binary
// needs.
void CheckEnvironment(const Environment& environment);

// A graded test's metadata, as `--list-graded` prints it.
struct GradedTest {
  std::string name;  // Suite.Name
  std::string part;  // of lab.yaml
  int points = 0;
  std::string property;  // one sentence: the property that must hold
  bool hidden = false;
};

bool RegisterGraded(GradedTest test);
const std::vector<GradedTest>& GradedTests();

}  // namespace depfast::testkit

#ifndef FAILSLOW_HIDDEN
#define FAILSLOW_HIDDEN false
#endif

// A GoogleTest test with points, and with a sentence that the report shows to a student who fails
// it.
#define GRADED_TEST(suite, name, part, points, property)                \
  [[maybe_unused]] static const bool suite##_##name##_is_graded =       \
      ::depfast::testkit::RegisterGraded(                               \
          {#suite "." #name, part, points, property, FAILSLOW_HIDDEN}); \
  TEST(suite, name)
