// Runs of crash sequences (document 003, section 5.1), and their verdicts.
//
// A verdict rests on facts: a command was acknowledged in time, or was not; an acknowledged command
// is in a majority of the replicas' files, or is not. Claims of replicas only shorten waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "saucr_checker.h"
#include "sequence_oracle.h"
#include "sequences.h"

namespace depfast::saucr {

struct SequenceOptions {
  int replicas = 5;
  Crashes crashes = Crashes::kWithGaps;
  System system = System::kSaucr;  // of the replicas
  // Replicas that crash between two states do so in ascending order. If this is not 0, the leader,
  // if it is one of them, takes this turn: 1 is the first.
  int leaders_turn = 0;
  int commands = 3;         // in each state
  std::uint64_t world = 1;  // the number of the run among a test's
};

struct SequenceResult {
  Verdict verdict = Verdict::kCorrect;
  std::string why;  // a sentence, unless the verdict is kCorrect
  // The outcome that the system's ideal model has, with the order of crashes of this run. Of a log
  // in memory: whether commands are committed; IdealMemory tells of losses.
  Verdict ideal = Verdict::kCorrect;
  // Broken rules of SaucrChecker and AnswerChecker, as sentences; empty if none was broken.
  std::string violation;
  std::string safety_violation;
  SaucrChecker::Coverage coverage;
};

// In each state: until the ideal model's mode is there, and until the commands are committed, 3 s
// at most. If the model expects no service, 300 ms. At the end a command must commit within 5 s.
// Requires: a cluster of its own may run in this test (testkit::Cluster).
SequenceResult RunSequence(const Sequence& sequence, const SequenceOptions& options);

// Runs each of them, the first as world `options.world`. Fails the test at the first one whose
// verdict is not the ideal one, or that breaks a rule. Uses the assertions of GoogleTest. Returns
// the situations of the last.
SaucrChecker::Coverage ExpectIdeal(const std::vector<Sequence>& sequences, SequenceOptions options);

}  // namespace depfast::saucr
