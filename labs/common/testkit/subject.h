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

// Where the clients of a load send their commands.
enum class ClientsAt {
  kProposers,  // to the replicas that propose
  kOne,        // to the first replica after the first proposer, in the order of ids
  kAll,        // to all replicas in turn, as a client does that balances its load
};

struct ClientLoad {
  Duration answer_timeout = 1s;   // of one command at one replica
  std::size_t value_bytes = 256;  // of each command that writes
  ClientsAt at = ClientsAt::kProposers;
  Duration give_up = 5s;  // of one command at all of them
};

struct Subject {
  std::unique_ptr<LogChecker> log;
  // A client's commands, one with each call, all different. Once the first is done the client knows
  // the proposers.
  testkit::Operation commands;
  // The first reply of `commands` that was not true, as a sentence; empty if all were true. Null if
  // the commands are Submits: AnswerChecker checks their answers.
  std::function<std::string()> untrue;
  // Clients that ask all replicas in turn (ClientsAt::kAll) return to those that have sent them
  // away. Null if none does.
  std::function<void()> return_clients = nullptr;
};

// Makes the subject of one run. The checker watches `simulator` and writes into `history`. Call it
// before Simulator::Start. Both must outlive the subject. Throws std::invalid_argument, in one
// line, for a load that the lab's clients cannot make.
using MakeSubject = std::function<Subject(sim::Simulator& simulator, testkit::History& history,
                                          const ClientLoad& load)>;

// A subject whose clients send Submit to `targets` proposers. No other replica takes a command.
Subject SubmitSubject(std::unique_ptr<LogChecker> log, sim::Simulator& simulator,
                      const ClientLoad& load, int targets = 1);

// The subjects of a lab's measuring program, by the mix of the load's commands: "" if the lab has
// one load. Each such program links one definition of this function (failslow_measure).
std::map<std::string, MakeSubject> MeasuredSubjects();

}  // namespace depfast
