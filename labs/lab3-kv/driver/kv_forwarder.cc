// Any replica takes a client's command: it sends the command to every proposer of the log, and
// passes on the first answer.
//
// A host with connections tells of the death of a proposer at once (RpcTable::WhenLost). Then the
// replica gives up what it has forwarded there, and keeps new commands until there is a proposer
// that it can reach. A proposer that is stopped, or cut off, keeps its connections: the replica
// gives up once the log names others instead. It asks again for a command that takes effect once,
// however often it is sent: one that only reads, or one in a session. The outcome of any other is
// unknown.
//
// A replica whose log sends clients away refuses their commands.
#include "kv_forwarder.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "audits.h"
#include "depfast/host/service.h"
#include "first_answer.h"
#include "kv_commands.h"
#include "kv_errors.h"
#include "kv_messages.h"
#include "paced_reads.h"
#include "replicated_log.h"
#include "slots.h"

namespace depfast::kv {
namespace {

constexpr Duration kForwardTimeout = 1s;
// A large value takes its time. Where connections tell that a proposer is lost, a read whose
// proposer stays waits this long: a second attempt would only send the value once more.
constexpr Duration kForwardedReadTimeout = 10s;
// An election takes 0.3 to 0.6 s, and twice the time if the votes are split.
constexpr Duration kFailoverTimeout = 2s;
constexpr Duration kLookForProposerEvery = 5ms;

// The latest numbers: the network delivers the second copy of a message soon after the first.
class SeenLately {
 public:
  // Returns whether the number is new.
  bool Add(std::uint64_t number) {
    constexpr std::size_t kLately = 10'000;
    if (!seen_.insert(number).second) return false;
    order_.push_back(number);
    if (order_.size() > kLately) {
      seen_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

 private:
  std::unordered_set<std::uint64_t> seen_;
  std::deque<std::uint64_t> order_;
};

// Whether a second execution of the command is none: it only reads, or its session knows it.
bool IsRepeatable(const Command& command) {
  const CommandForm* const form = command.empty() ? nullptr : FindCommand(command.front());
  if (form == nullptr || form->reads) return true;
  return form->verb == Verb::kSession && command.size() > 1 && !IsWord(command[1], "NEW");
}

// About the size of a reply: the bytes of its values.
std::size_t BytesIn(const Reply& reply) {
  std::size_t bytes = reply.text.size();
  for (const auto& item : reply.items) bytes += item ? item->size() : 0;
  return bytes;
}

// A client's command that has no answer yet.
struct Pending {
  Command command;
  Responder<Reply> client;
  Time give_up;               // no new attempt after this time
  bool may_be_done = false;   // an attempt ended without an answer
  bool was_given_up = false;  // an attempt, because its proposer was lost or replaced
};

// A command on its way to a proposer.
struct Forwarded {
  std::shared_ptr<RpcEvent<Reply>> call;
  std::shared_ptr<Pending> pending;
};

// Proposers were asked to execute a command.
struct Attempt {
  std::shared_ptr<Pending> pending;
  int missing = 0;  // answers
  std::optional<FirstAnswer> answers;
};

class KvForwarder final : public Service {
 public:
  KvForwarder(Runtime& runtime, std::unique_ptr<StateMachine> store,
              std::unique_ptr<ReplicatedLog> log, const MakeExecute& make_execute)
      : runtime_(runtime),
        store_(std::move(store)),
        audits_(*store_),
        log_(std::move(log)),
        reads_(runtime, *log_),
        execute_(make_execute(reads_)) {}

  void Start() override {
    runtime_.rpc().HandleInline<KvRequest>(
        [this](KvRequest&& request, const Responder<Reply>& responder) {
          Serve(std::move(request), responder);
        });
    audits_.Serve(runtime_.rpc());
    runtime_.rpc().WhenLost(
        [this](PeerId lost) { GiveUpForwards([lost](PeerId asked) { return asked == lost; }); });
    log_->Start();
  }

  void Stop() override { log_->Stop(); }

 private:
  void Serve(KvRequest&& request, const Responder<Reply>& responder) {
    if (request.forward_id != 0) {
      if (!forwarded_.Add(request.forward_id)) return;
      reads_.set_peer(responder.peer());
      execute_(request.command, responder.dependency(), [this, responder](const Reply& reply) {
        reads_.Sent(BytesIn(reply));
        responder.Send(reply);
      });
      return;
    }
    if (log_->SendsClientsAway()) {
      responder.Send(TryAgain());
      return;
    }
    const auto pending = std::make_shared<Pending>(
        Pending{std::move(request.command), responder, runtime_.Now() + kFailoverTimeout});
    if (waiting_.empty()) {
      TryNow(pending);
    } else {
      waiting_.push_back(pending);  // behind the commands that came before it
    }
  }

  void TryNow(const std::shared_ptr<Pending>& pending) {
    std::vector<PeerId> in_reach = log_->proposers();
    const bool is_only_proposer = in_reach.size() == 1;
    std::erase_if(in_reach, [this](PeerId id) { return runtime_.rpc().HasLost(id); });
    if (in_reach.empty()) {
      End(pending, TryAgain(), /*was_asked=*/false);
      return;
    }
    const auto asked = static_cast<int>(in_reach.size());
    const auto attempt = attempts_.Add({pending, asked, FirstAnswer(asked)});
    // Several proposers know a command by its dependency (ReplicatedLog::Submit). Clients number
    // their requests from 1, so two clients may use one number: draw another.
    const Dependency client =
        is_only_proposer ? pending->client.dependency() : Dependency::Client(RandomNumber());
    for (const PeerId proposer : in_reach) Ask(proposer, client, pending, attempt);
  }

  // The first answer that decides the outcome is the client's.
  void Take(Slots<Attempt>::Number number, const Reply& reply) {
    Attempt* const attempt = attempts_.Find(number);
    assert(attempt != nullptr && "a proposer answers once");
    const CommandOutcome here = OutcomeIn(reply);
    const auto outcome = attempt->answers->Add(here);
    const auto pending = attempt->pending;
    if (--attempt->missing == 0) attempts_.Take(number);
    if (outcome == here) {
      End(pending, reply, /*was_asked=*/true);
    } else if (outcome) {
      End(pending, UnknownOutcome(), /*was_asked=*/true);
    }
  }

  // The end of an attempt, of which `reply` is the outcome.
  void End(const std::shared_ptr<Pending>& pending, const Reply& reply, bool was_asked) {
    const CommandOutcome outcome = OutcomeIn(reply);
    pending->may_be_done |= outcome == CommandOutcome::kUnknown;
    if (outcome != CommandOutcome::kKnown && MayTryAgain(*pending, was_asked)) {
      Keep(pending);
    } else if (pending->may_be_done && SaysNothingIsChanged(reply)) {  // by the last attempt alone
      pending->client.Send(UnknownOutcome());
    } else {
      pending->client.Send(reply);
    }
  }

  // Later commands of its client may have been executed. So what was asked is not asked again
  // unless a session keeps the order.
  bool MayTryAgain(const Pending& pending, bool was_asked) {
    const bool elects = runtime_.rpc().HasLostAny() || pending.was_given_up;
    return elects && runtime_.Now() < pending.give_up &&
           (!was_asked || IsRepeatable(pending.command));
  }

  static bool SaysNothingIsChanged(const Reply& reply) {
    return OutcomeIn(reply) == CommandOutcome::kRefused || HasCode(reply, "NOSESSION");
  }

  void Keep(const std::shared_ptr<Pending>& pending) {
    waiting_.push_back(pending);
    if (std::exchange(looks_for_proposer_, true)) return;
    runtime_.Spawn("failover", [this] { LookForProposer(); });
  }

  void LookForProposer() {
    runtime_.set_dependency({});  // for many clients
    while (!waiting_.empty()) {
      runtime_.Sleep(kLookForProposerEvery);
      for (const auto& pending : std::exchange(waiting_, {})) TryNow(pending);
    }
    looks_for_proposer_ = false;
  }

  void Ask(PeerId proposer, const Dependency& client, const std::shared_ptr<Pending>& pending,
           Slots<Attempt>::Number attempt) {
    if (proposer == runtime_.self()) {
      reads_.set_peer(pending->client.peer());
      execute_(pending->command, client, [this, attempt](const Reply& reply) {
        reads_.Sent(BytesIn(reply));
        Take(attempt, reply);
      });
      return;
    }
    runtime_.Spawn("forward", [this, proposer, client, pending, attempt] {
      runtime_.set_dependency(client);
      Take(attempt, Forward(proposer, pending));
    });
  }

  // A reply that is lost leaves the outcome of a command unknown, unless it only reads.
  Reply Forward(PeerId proposer, const std::shared_ptr<Pending>& pending) {
    if (runtime_.rpc().HasLost(proposer)) return TryAgain();  // in this very step
    const Command& command = pending->command;
    const CommandForm* const form = command.empty() ? nullptr : FindCommand(command.front());
    const bool only_reads = form == nullptr || form->reads;
    const KvRequest request{command, RandomNumber()};
    const auto call = runtime_.rpc().Call(
        proposer, request,
        only_reads && runtime_.rpc().HasConnections() ? kForwardedReadTimeout : kForwardTimeout);
    const auto here = forwards_.insert(forwards_.end(), {call, pending});
    if (runtime_.rpc().HasConnections()) CompareProposers();
    const bool is_answered = call->Wait() == Outcome::kReady;
    forwards_.erase(here);
    if (is_answered) return call->reply();
    return only_reads ? TryAgain() : UnknownOutcome();
  }

  template <typename Predicate>
  void GiveUpForwards(const Predicate& are_given_up) {
    for (const Forwarded& each : forwards_) {
      if (!are_given_up(each.call->peer())) continue;
      each.pending->was_given_up = true;
      runtime_.rpc().Release(*each.call);
    }
  }

  // Gives up the commands that are forwarded to a replica once the log names only others. Ends when
  // nothing is forwarded. While the log names none, nothing tells whether an answer still comes.
  void CompareProposers() {
    if (std::exchange(compares_proposers_, true)) return;
    runtime_.Spawn("compare proposers", [this] {
      runtime_.set_dependency({});  // for many clients
      while (!forwards_.empty()) {
        runtime_.Sleep(kLookForProposerEvery);
        const std::vector<PeerId> now = log_->proposers();
        GiveUpForwards([&now](PeerId asked) {
          return !now.empty() && std::find(now.begin(), now.end(), asked) == now.end();
        });
      }
      compares_proposers_ = false;
    });
  }

  // Above 0.
  std::uint64_t RandomNumber() {
    return static_cast<std::uint64_t>(
        runtime_.RandomBetween(1, std::numeric_limits<std::int64_t>::max()));
  }

  Runtime& runtime_;
  const std::unique_ptr<StateMachine> store_;
  Audits audits_;
  const std::unique_ptr<ReplicatedLog> log_;
  PacedReads reads_;
  const Execute execute_;
  SeenLately forwarded_;
  Slots<Attempt> attempts_;        // that miss answers
  std::list<Forwarded> forwards_;  // under way
  bool compares_proposers_ = false;
  // Commands that wait for a proposer, in the order in which they came. Empty unless a peer is
  // lost, or a proposer was replaced.
  std::vector<std::shared_ptr<Pending>> waiting_;
  bool looks_for_proposer_ = false;  // a coroutine asks again for waiting_
};

}  // namespace

std::unique_ptr<Service> MakeKvForwarder(Runtime& runtime, std::unique_ptr<StateMachine> store,
                                         std::unique_ptr<ReplicatedLog> log,
                                         const MakeExecute& make_execute) {
  return std::make_unique<KvForwarder>(runtime, std::move(store), std::move(log), make_execute);
}

}  // namespace depfast::kv
