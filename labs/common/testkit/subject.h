// Subject: a measurement's view of a lab's system: the checker of its log, and a client's commands.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "log_checker.h"
#include "retrying_client.h"
#include "sim/simulator.h"
#include "testkit/history.h"
#include "testkit/load.h"

namespace depfast {

struct Subject {
  std::unique_ptr<LogChecker> log;
  // A client's commands, one with each call, all different. Once the first is done the client knows
  // the proposers.
  testkit::Operation commands;
  // The first reply of `commands` that was not true, as a sentence; empty if all were true. Null if
  // the commands are Submits: AnswerChecker checks their answers.
  std::function<std::string()> untrue;
};

// Makes the subject of one run. The checker watches `simulator` and writes into `history`; the
// client waits at most `answer_timeout` for an answer. Call it before Simulator::Start. Both
// must outlive the subject.
using MakeSubject = std::function<Subject(sim::Simulator& simulator, testkit::History& history,
                                          Duration answer_timeout)>;

// A subject whose clients send Submit, with commands of 256 bytes.
Subject SubmitSubject(std::unique_ptr<LogChecker> log, sim::Simulator& simulator,
                      const ClientOptions& options);

// What a lab's measuring program measures, by the mix of the load's commands: "" if the lab has one
// load. Each such program links one definition of this function (failslow_measure).
std::map<std::string, MakeSubject> MeasuredSubjects();

}  // namespace depfast
