// KvChecker: checks every command of every test against the rules of the store.
//
// It runs a model over the entries that the replicas apply, so it knows the reply to each entry and
// the answer to a read after each entry. It then compares the replies that leave a replica:
//
//   a command in the log   its reply is that of its entry, applied after the command came
//   a read                 its reply is that of a state at or after the arrival of the read, and
//                          the log's checker permits the read (LogChecker::WhyMayNotRead)
//   a command in error     its reply is an error, and no entry holds the command
//   TRYAGAIN               the command is not executed, neither before nor later
//   a command passed on    its reply is what the other replica has answered
//
// A log that does not number its entries is not checked.
//
// Commands and replies are facts, read from frames. The order of entries is that of the log, which
// has a checker of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kv_messages.h"
#include "linearizability/store_model.h"
#include "log_checker.h"
#include "safety.h"
#include "sim/simulator.h"
#include "testkit/history.h"

namespace depfast::kv {

class KvChecker : private sim::Observer {
 public:
  // Watches `simulator` from now on, and writes the first violation into `history`. Requires: `log`
  // has watched the simulator for longer, so that it knows a step before this does; called before
  // Simulator::Start. All outlive the checker.
  KvChecker(sim::Simulator& simulator, const LogChecker& log, testkit::History& history);
  KvChecker(const KvChecker&) = delete;
  KvChecker& operator=(const KvChecker&) = delete;

  // The first violated rule, as a sentence; empty if there is none.
  const std::string& FirstViolation() const { return first_violation_; }
  // The property of safety that it breaks, if it breaks one.
  std::optional<Safety> breaks() const { return breaks_; }

  // `on_entry` hears of each entry with a command, and of its reply by the rules. Requires: called
  // before Simulator::Start.
  using OnEntryDone = std::function<void(std::uint64_t index, const Command&, const Reply&)>;
  void set_on_entry(OnEntryDone on_entry) { on_entry_ = std::move(on_entry); }

  // The situations that the checked commands met. A test asserts that its situations occurred.
  const SessionsMet& sessions_met() const { return model_.met(); }

 private:
  // A command that a replica must execute itself: it does not pass it on.
  struct Asked {
    Command command;
    CommandDigest entry;           // as which the command is in the log
    bool reads = false;            // it can be executed, and only reads
    Time since{0};                 // the step in which it came
    std::vector<Reply> permitted;  // so far
  };
  // A command that a replica passes on, and what other replicas have answered.
  struct Passed {
    Command command;
    std::vector<Reply> replies;
  };
  using Call = std::pair<PeerId, CallId>;  // of a caller; or of a replica to the one that it calls
  struct Replica {
    std::map<Call, Asked> asked;
    std::map<Call, Passed> passed;
    std::map<Call, Call> forwards_of;  // whose command a call of this replica passes on
    std::set<std::uint64_t> forwards;  // ids that have come: of copies, one is executed
  };
  // The number of times that a command may be in the log, and is.
  struct Promise {
    Command command;
    PeerId replica = kNobody;  // to which it came first
    Time since{0};
    std::size_t asked = 0;
    std::size_t refused = 0;
    std::size_t applied = 0;
  };
  using Breaks = std::optional<Safety>;
  struct Untrue {
    int rule = 0;  // its number in the handout
    std::string why;
    Breaks breaks = std::nullopt;
    std::vector<testkit::EarlierStep> earlier = {};
  };

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnRestart(PeerId replica, Time now) override;

  void OnRequests(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output);
  // Replies of other replicas to what this one has passed on.
  void OnReplies(Replica& replica, const sim::StepInput& input);
  void Ask(PeerId replica, Call from, const KvRequest& request, Time now);
  // Another proposer has had a copy of this request before: what it may have answered since.
  void PermitRepliesToCopies(const KvRequest& request, Asked& asked);
  void OnEntries(Time now);
  void OnEntry(std::uint64_t index, const CommandDigest& entry, Time now);
  void OnAnswer(PeerId replica, Time now, const sim::SendFrame& sent);
  void OnAnswerToPassed(PeerId replica, Time now, const Passed& passed, const Reply& reply);
  // Why a replica may not answer so, as the end of a sentence with "but"; empty if it may.
  Untrue WhyNot(PeerId replica, const Asked& asked, const Reply& reply);
  // The step in which the command came that decides the reply to this read; none if no entry does.
  std::vector<testkit::EarlierStep> DecidedBy(const Command& read) const;
  void CountRefusal(const CommandDigest& entry, Time now);
  void Violate(Time now, int rule, const std::string& what, Breaks breaks,
               std::vector<testkit::EarlierStep> earlier = {});

  const LogChecker& log_;
  testkit::History& history_;
  std::vector<Replica> replicas_;
  std::map<CommandDigest, Promise> promises_;  // by entry
  // For a log with several proposers, which get copies of a request. By id of the copies: the last
  // entry before the first of them came. By entry: the replies of all copies.
  std::map<std::uint64_t, std::uint64_t> first_copies_;
  std::map<CommandDigest, std::vector<std::pair<std::uint64_t, Reply>>> replies_;
  StoreModel model_;
  OnEntryDone on_entry_;
  std::uint64_t last_index_ = 0;  // the model's state is that after this entry
  std::string first_violation_;
  Breaks breaks_;  // by the first violation
};

}  // namespace depfast::kv
