#include "copilot_model.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <unordered_set>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace depfast::copilot {
namespace {

using Cell = ModelState::Cell;
using Kind = Record::Kind;

enum Stage : std::uint8_t { kIdle, kFast, kSlow, kPreparing, kAccepting, kDone };

// The ballots of a cell count from its lane's first one, which is 0.
Record RecordOf(const Cell& cell, int log) {
  const Ballot first = FirstBallot(static_cast<View>(log));
  const auto kind = static_cast<Kind>(cell.kind);
  return {kind,
          cell.no_op != 0,
          first + cell.promised,
          kind == Kind::kNone ? 0 : first + cell.ballot,
          cell.initial,
          cell.dependency,
          1 - log,
          cell.initial};
}

void SetRecord(Cell& cell, const Record& record) {
  cell.kind = static_cast<std::uint8_t>(record.kind);
  cell.no_op = record.no_op;
  cell.ballot = static_cast<std::uint8_t>(record.ballot);
  if (record.kind <= Kind::kSuggested) cell.initial = static_cast<std::uint8_t>(record.initial);
  cell.dependency = static_cast<std::uint8_t>(record.no_op ? 0 : record.dependency);
}

// Stands for a state: 128 bits, so that two states have the same one in a run in 10^22.
struct Print {
  explicit Print(const ModelState& state) {
    static_assert(std::has_unique_object_representations_v<ModelState>);
    const XXH128_hash_t hash = XXH3_128bits(&state, sizeof state);
    low = hash.low64;
    high = hash.high64;
  }
  bool operator==(const Print&) const = default;

  std::uint64_t low;
  std::uint64_t high;
};

struct PrintHash {
  std::size_t operator()(const Print& print) const { return print.low; }
};

class Exploration {
 public:
  Exploration(const Scope& scope, const Rules& rules, std::size_t states_max)
      : scope_(scope), rules_(rules), quorums_(scope.replicas), states_max_(states_max) {}

  Explored Run() {
    Begin();
    Visit(first_, [] { return std::string(); });
    while (!left_.empty() && result_.violated.empty() && ways_.size() < states_max_) {
      now_ = left_.front();
      left_.pop_front();
      way_.step = 0;
      Step();
      ++way_.from;
    }
    result_.complete = left_.empty();
    result_.coverage.states = ways_.size();
    Explored result = result_;
    if (!result.violated.empty()) result.steps = StepsTo(bad_);
    return result;
  }

 private:
  void Begin() {
    for (const std::string& words : scope_.begin) {
      wanted_ = words;
      Step();
      if (wanted_) throw std::invalid_argument("no step is: " + words);
      now_ = replayed_state_;
    }
    first_ = now_;
    has_begun_ = true;
  }

  // ---- names ----

  int entries() const { return static_cast<int>(scope_.entries.size()); }
  EntryName NameOf(int entry) const { return scope_.entries[static_cast<std::size_t>(entry)]; }
  std::string Text(int entry) const {
    return (NameOf(entry).log == 0 ? "P." : "Q.") + std::to_string(NameOf(entry).index);
  }
  int Find(int log, EntryIndex index) const {
    for (int entry = 0; entry < entries(); ++entry) {
      if (NameOf(entry) == EntryName{log, index}) return entry;
    }
    return -1;
  }
  static Cell& At(ModelState& state, int replica, int entry) {
    return state.cells[static_cast<std::size_t>(replica)][static_cast<std::size_t>(entry)];
  }
  const Cell& Now(int replica, int entry) const {
    return now_.cells[static_cast<std::size_t>(replica)][static_cast<std::size_t>(entry)];
  }
  // A replica's records of a whole log, in order.
  std::vector<Record> LogOf(int replica, int log) const {
    std::vector<Record> records;
    for (int entry = 0; entry < entries(); ++entry) {
      if (NameOf(entry).log == log) records.push_back(RecordOf(Now(replica, entry), log));
    }
    return records;
  }
  EntryIndex LatestKnown(int replica, int log) const {
    const auto records = LogOf(replica, log);
    EntryIndex latest = records.size();
    while (latest > 0 && !records[latest - 1].is_known()) --latest;
    return latest;
  }
  static std::string Replica(int replica) { return "replica " + std::to_string(replica); }

  // ---- one step from the present state, in all ways ----

  void Step() {
    for (int entry = 0; entry < entries(); ++entry) {
      Propose(entry);
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        HandleFastAccept(replica, entry);
        HandleAccept(replica, entry, 0, now_.proposals[static_cast<std::size_t>(entry)], kSlow);
        Learn(replica, entry);
      }
      CommitFast(entry);
      GoSlow(entry);
      CommitSlow(entry);
    }
    if (scope_.pilot_restarts && now_.restarted == 0) Restart();
    stuck_ = 0;
    for (int number = 0; number < static_cast<int>(scope_.takeovers.size()); ++number) {
      TakeOver(number);
    }
    if (scope_.crash == Crash::kBothPilots && stuck_ == scope_.takeovers.size() && stuck_ > 1) {
      result_.violated = "all takeovers wait for each other";
      bad_ = way_.from;
    }
  }

  void Restart() {
    ModelState next = now_;
    next.restarted = 1;
    for (int entry = 0; entry < entries(); ++entry) {
      Cell& cell = At(next, 0, entry);
      if (cell.kind != static_cast<std::uint8_t>(Kind::kCommitted) || cell.keeps != 0) continue;
      cell.kind = cell.was[0], cell.no_op = cell.was[1];
      cell.ballot = cell.was[2], cell.dependency = cell.was[3];
    }
    Visit(next, [] { return std::string("replica 0 starts again"); });
  }

  // Whether the replica has started again, and is no pilot any more.
  bool Forgets(int replica) const { return replica == 0 && now_.restarted != 0; }

  void SetCommitted(Cell& cell, int replica, const Value& value) const {
    if (!scope_.pilot_restarts) cell.keeps = 0;
    if (scope_.pilot_restarts && replica == 0) {
      cell.was = {cell.kind, cell.no_op, cell.ballot, cell.dependency};
    }
    SetRecord(cell, {Kind::kCommitted, value.no_op, 0, cell.ballot, 0, value.dependency});
  }

  void Propose(int entry) {
    const int log = NameOf(entry).log;
    if (Forgets(log)) return;
    const auto& proposal = now_.proposals[static_cast<std::size_t>(entry)];
    if (proposal.stage != kIdle || Now(log, entry).promised != 0) return;
    const int before = Find(log, NameOf(entry).index - 1);
    if (before >= 0 && now_.proposals[static_cast<std::size_t>(before)].stage == kIdle) return;
    // The pilot may have heard of entries that only others have recorded.
    EntryIndex heard = 0;
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      heard = std::max(heard, LatestKnown(replica, 1 - log));
    }
    for (EntryIndex seen = LatestKnown(log, 1 - log); seen <= heard; ++seen) {
      ModelState next = now_;
      auto& made = next.proposals[static_cast<std::size_t>(entry)];
      made.stage = kFast;
      made.initial = static_cast<std::uint8_t>(seen);
      FastAccept(next, log, entry, seen);
      Visit(next, [&] {
        return Replica(log) + " proposes " + Text(entry) + " with dependency " +
               std::to_string(seen);
      });
    }
  }

  void FastAccept(ModelState& next, int replica, int entry, EntryIndex initial) const {
    const auto [log, index] = NameOf(entry);
    const auto records = LogOf(replica, 1 - log);
    const auto suggestion = rules_.suggestion(index, initial, {0, records, 0});
    Cell& cell = At(next, replica, entry);
    const EntryIndex dependency = suggestion.value_or(initial);
    SetRecord(cell, {suggestion ? Kind::kSuggested : Kind::kFastAccepted, false, 0, 0, initial,
                     dependency});
    cell.answer = static_cast<std::uint8_t>(1 + dependency);
    cell.fast_ok = !suggestion;
  }

  bool Hears(int replica) const { return !has_begun_ || replica >= static_cast<int>(scope_.crash); }

  void HandleFastAccept(int replica, int entry) {
    const auto& proposal = now_.proposals[static_cast<std::size_t>(entry)];
    const Cell& cell = Now(replica, entry);
    if (!Hears(replica) || proposal.stage == kIdle || cell.promised != 0 || cell.kind != 0) return;
    ModelState next = now_;
    FastAccept(next, replica, entry, proposal.initial);
    Visit(next, [&] {
      const Cell& after = At(next, replica, entry);
      return Replica(replica) + (after.fast_ok ? " fast-accepts " : " suggests for ") +
             Text(entry) + " dependency " + std::to_string(after.dependency);
    });
  }

  // The proposer decides by its own record: after a promise it does nothing at ballot 0.
  bool MayDecide(int entry, Stage stage) const {
    return now_.proposals[static_cast<std::size_t>(entry)].stage == stage &&
           !Forgets(NameOf(entry).log) && Now(NameOf(entry).log, entry).promised == 0;
  }

  void CommitFast(int entry) {
    if (!MayDecide(entry, kFast)) return;
    const int log = NameOf(entry).log;
    int oks = 0;
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      oks += Now(replica, entry).fast_ok;
    }
    const int quorum = rules_.fast_quorum > 0 ? rules_.fast_quorum : quorums_.fast();
    if (oks < quorum) return;
    const int witness_oks = Now(1 - log, entry).fast_ok;
    if (witness_oks == 0 || !scope_.pilot_restarts) {
      CommitFast(entry, /*on_disk=*/true);
    } else {
      CommitFast(entry, /*on_disk=*/false);
      if (oks - witness_oks >= quorum) CommitFast(entry, /*on_disk=*/true);
    }
  }

  // `on_disk`: the proposer does not forget the commit.
  void CommitFast(int entry, bool on_disk) {
    ModelState next = now_;
    auto& proposal = next.proposals[static_cast<std::size_t>(entry)];
    proposal.stage = kDone;
    ++result_.coverage.fast_commits;
    const int proposer = NameOf(entry).log;
    if (on_disk) At(next, proposer, entry).keeps = 1;
    Commit(next, proposer, entry, {false, proposal.initial}, "on the fast path");
  }

  // Any majority of answers may have come so far.
  void GoSlow(int entry) {
    if (!MayDecide(entry, kFast)) return;
    const int proposer = NameOf(entry).log;
    std::set<EntryIndex> finals;
    ForEachMajority(proposer, [&](unsigned members) {
      std::vector<EntryIndex> suggested;
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        if ((members >> replica & 1) == 0) continue;
        const auto answer = Now(replica, entry).answer;
        if (answer == 0) return;
        suggested.push_back(answer - 1U);
      }
      finals.insert(rules_.slow_dependency(std::move(suggested), quorums_));
    });
    for (const EntryIndex dependency : finals) {
      ModelState next = now_;
      auto& proposal = next.proposals[static_cast<std::size_t>(entry)];
      proposal.stage = kSlow;
      proposal.dependency = static_cast<std::uint8_t>(dependency);
      Accept(next, proposer, entry, 0, proposal);
      Visit(next, [&] {
        return Replica(proposer) + " takes the slow path for " + Text(entry) + " with dependency " +
               std::to_string(dependency);
      });
    }
  }

  static void Accept(ModelState& next, int replica, int entry, int ballot,
                     const ModelState::Proposal& proposal) {
    Cell& cell = At(next, replica, entry);
    cell.promised = static_cast<std::uint8_t>(ballot);
    cell.accepted |= static_cast<std::uint8_t>(1U << ballot);
    if (cell.kind == static_cast<std::uint8_t>(Kind::kCommitted)) return;
    const auto at = static_cast<Ballot>(ballot);
    SetRecord(cell, {Kind::kAccepted, proposal.no_op != 0, at, at, 0, proposal.dependency});
  }

  void HandleAccept(int replica, int entry, int ballot, const ModelState::Proposal& proposal,
                    Stage stage) {
    const Cell& cell = Now(replica, entry);
    if (!Hears(replica) || proposal.stage != stage) return;
    if (cell.promised > ballot || (cell.accepted >> ballot & 1) != 0) return;
    ModelState next = now_;
    Accept(next, replica, entry, ballot, proposal);
    Visit(next, [&] {
      return Replica(replica) + " accepts " + Text(entry) + " at ballot " + std::to_string(ballot);
    });
  }

  bool IsAccepted(int entry, int ballot) const {
    int oks = 0;
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      oks += Now(replica, entry).accepted >> ballot & 1;
    }
    return oks >= quorums_.majority();
  }

  void CommitSlow(int entry) {
    if (!MayDecide(entry, kSlow) || !IsAccepted(entry, 0)) return;
    ModelState next = now_;
    auto& proposal = next.proposals[static_cast<std::size_t>(entry)];
    proposal.stage = kDone;
    ++result_.coverage.slow_commits;
    Commit(next, NameOf(entry).log, entry, {false, proposal.dependency}, "on the slow path");
  }

  void Commit(ModelState next, int replica, int entry, const Value& value, const char* how) {
    Cell& cell = At(next, replica, entry);
    SetCommitted(cell, replica, value);
    auto& fact = next.facts[static_cast<std::size_t>(entry)];
    const auto dependency = static_cast<std::uint8_t>(value.no_op ? 0 : value.dependency);
    if (fact.committed != 0) {
      fact.differs |= fact.no_op != value.no_op || fact.dependency != dependency;
    } else {
      fact = {1, value.no_op, dependency, 0};
    }
    Visit(next, [&] {
      return Replica(replica) + " commits " + Text(entry) +
             (value.no_op ? " as a no-op "
                          : " with dependency " + std::to_string(value.dependency) + " ") +
             how;
    });
  }

  void Learn(int replica, int entry) {
    const auto& fact = now_.facts[static_cast<std::size_t>(entry)];
    const Cell& cell = Now(replica, entry);
    if (!Hears(replica) || fact.committed == 0) return;
    if (cell.kind == static_cast<std::uint8_t>(Kind::kCommitted)) return;
    ModelState next = now_;
    SetCommitted(At(next, replica, entry), replica, {fact.no_op != 0, fact.dependency});
    Visit(next, [&] { return Replica(replica) + " learns the commit of " + Text(entry); });
  }

  // ---- takeover ----

  void TakeOver(int number) {
    const TakeoverPlan& plan = scope_.takeovers[static_cast<std::size_t>(number)];
    const int taker = plan.taker;
    const int entry = Find(plan.entry.log, plan.entry.index);
    const int ballot = number + 1;
    const auto& takeover = now_.takeovers[static_cast<std::size_t>(number)];
    if (takeover.stage == kIdle) {
      if (Now(taker, entry).kind == static_cast<std::uint8_t>(Kind::kCommitted)) return;
      ModelState next = now_;
      next.takeovers[static_cast<std::size_t>(number)].stage = kPreparing;
      Visit(next, [&] { return Replica(taker) + " takes " + Text(entry) + " over"; });
      return;
    }
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      Prepare(replica, entry, number);
      HandleAccept(replica, entry, ballot, takeover, kAccepting);
    }
    if (takeover.stage == kPreparing) Choose(number, taker, entry);
    if (takeover.stage == kAccepting && IsAccepted(entry, ballot)) {
      ModelState next = now_;
      next.takeovers[static_cast<std::size_t>(number)].stage = kDone;
      Commit(next, taker, entry, {takeover.no_op != 0, takeover.dependency}, "by its takeover");
    }
  }

  void Prepare(int replica, int entry, int number) {
    const Cell& cell = Now(replica, entry);
    if (!Hears(replica) || cell.promised > number) return;  // its ballot or a higher one
    ModelState next = now_;
    Cell& promised = At(next, replica, entry);
    promised.promised = static_cast<std::uint8_t>(number + 1);
    auto& said = promised.prepared[static_cast<std::size_t>(number)];
    said = {1, cell.kind, cell.no_op, cell.promised, cell.ballot, cell.initial, cell.dependency};
    const auto [log, index] = NameOf(entry);
    const auto records = LogOf(replica, 1 - log);
    for (const Rival& rival : rules_.rivals(index, 0, {0, records, 0})) {
      if (rival.entry < 1 || rival.entry > kEntriesMax) continue;  // a wrong rule's
      said[6 + rival.entry] = ByteOf(rival);
    }
    Visit(next, [&] {
      return Replica(replica) + " promises " + Text(entry) + " at ballot " +
             std::to_string(number + 1);
    });
  }

  // 0 stands for none.
  static std::uint8_t ByteOf(const Rival& rival) {
    return static_cast<std::uint8_t>(1 + static_cast<int>(rival.stage));
  }

  template <typename Said>
  static std::vector<Rival> RivalsIn(const Said& said, int other_log) {
    std::vector<Rival> rivals;
    for (EntryIndex entry = 1; entry <= kEntriesMax; ++entry) {
      const int byte = said[6 + entry];
      if (byte == 0) continue;
      rivals.push_back({entry, static_cast<View>(other_log), static_cast<Rival::Stage>(byte - 1)});
    }
    return rivals;
  }

  void Choose(int number, int taker, int entry) {
    std::set<std::pair<bool, EntryIndex>> chosen;  // no-op, dependency
    const int log = NameOf(entry).log;
    const auto other = LogOf(taker, 1 - log);
    ForEachMajority(kAnybody, [&](unsigned members) {
      std::vector<Prepared> answers;
      int fast = 0;
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        if ((members >> replica & 1) == 0) continue;
        const auto& said = Now(replica, entry).prepared[static_cast<std::size_t>(number)];
        if (said[0] == 0) return;
        Cell cell;
        cell.kind = said[1], cell.no_op = said[2], cell.promised = said[3];
        cell.ballot = said[4], cell.initial = said[5], cell.dependency = said[6];
        const Record record = RecordOf(cell, log);
        fast += record.kind == Kind::kFastAccepted;
        answers.push_back({replica, record, RivalsIn(said, 1 - log),
                           replica == log && record.kind != Kind::kNone && !Forgets(replica)});
      }
      const auto choice = rules_.choose(NameOf(entry).index, answers, {0, other, 0}, quorums_);
      if (const Value* const value = std::get_if<Value>(&choice)) {
        chosen.insert({value->no_op, value->dependency});
        if (!value->no_op && fast > 0 && fast < quorums_.f()) ++result_.coverage.by_other_log;
      } else {
        ++result_.coverage.undecided;
      }
    });
    if (chosen.empty() && IsStuck(number, taker, entry)) ++stuck_;
    for (const auto& each : chosen) {
      const bool no_op = each.first;
      const EntryIndex dependency = each.second;
      ++(no_op ? result_.coverage.given_up : result_.coverage.recovered);
      ModelState next = now_;
      auto& takeover = next.takeovers[static_cast<std::size_t>(number)];
      takeover = {kAccepting, 0, no_op, static_cast<std::uint8_t>(dependency)};
      Visit(next, [&] {
        return Replica(taker) + " chooses for " + Text(entry) +
               (no_op ? " a no-op" : " dependency " + std::to_string(dependency));
      });
    }
  }

  // Whether nothing more will come: all that live have answered, and the taker knows all commits.
  bool IsStuck(int number, int taker, int entry) const {
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      const auto& said = Now(replica, entry).prepared[static_cast<std::size_t>(number)];
      if (Hears(replica) && said[0] == 0) return false;
    }
    for (int other = 0; other < entries(); ++other) {
      const bool knows = Now(taker, other).kind == static_cast<std::uint8_t>(Kind::kCommitted);
      if (now_.facts[static_cast<std::size_t>(other)].committed != 0 && !knows) return false;
    }
    return true;
  }

  static constexpr int kAnybody = -1;

  // All sets of a majority or more that have this member.
  template <typename Do>
  void ForEachMajority(int member, const Do& action) const {
    for (unsigned members = 0; members < 1U << scope_.replicas; ++members) {
      const bool has_member = member == kAnybody || (members >> member & 1) != 0;
      if (std::popcount(members) >= quorums_.majority() && has_member) action(members);
    }
  }

  // ---- states ----

  // Equal for states that behave alike. What no decision asks for again is forgotten, and followers
  // that take nothing over have no order.
  void Normalize(ModelState& state) const {
    for (int entry = 0; entry < entries(); ++entry) {
      const auto stage = state.proposals[static_cast<std::size_t>(entry)].stage;
      const bool decides = At(state, NameOf(entry).log, entry).promised == 0;
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        Cell& cell = At(state, replica, entry);
        if (!decides || stage != kFast) cell.answer = cell.fast_ok = 0;
        if (!decides || stage != kSlow) cell.accepted &= 0xFE;
      }
    }
    for (std::size_t number = 0; number < scope_.takeovers.size(); ++number) {
      const auto& name = scope_.takeovers[number].entry;
      const auto stage = state.takeovers[number].stage;
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        Cell& cell = At(state, replica, Find(name.log, name.index));
        if (stage != kPreparing) cell.prepared[number] = {};
        if (stage != kAccepting) cell.accepted &= static_cast<std::uint8_t>(~(2U << number));
      }
    }
    int first = 2;
    for (const auto& each : scope_.takeovers) first = std::max(first, each.taker + 1);
    std::sort(state.cells.begin() + first, state.cells.begin() + scope_.replicas);
  }

  // `said`: the step to the state, in words.
  template <typename Said>
  void Visit(ModelState state, const Said& said) {
    Normalize(state);
    if (!has_begun_) {
      if (wanted_ && said() == *wanted_) {
        replayed_state_ = state;
        wanted_.reset();
      }
      return;
    }
    const std::uint32_t step = way_.step++;
    if (replayed_) {
      if (step == *replayed_) {
        words_ = said();
        replayed_state_ = state;
      }
      return;
    }
    if (!result_.violated.empty() || !known_.insert(Print(state)).second) return;
    ways_.push_back({way_.from, step});
    left_.push_back(state);
    result_.violated = Violated(state);
    bad_ = ways_.size() - 1;
  }

  // The shortest way to a state. States are not kept: the steps are taken again from the first one.
  std::vector<std::string> StepsTo(std::size_t last) {
    std::vector<std::uint32_t> steps;
    for (std::size_t state = last; state != 0; state = ways_[state].from) {
      steps.push_back(ways_[state].step);
    }
    std::vector<std::string> words;
    now_ = first_;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      replayed_ = *step;
      way_.step = 0;
      Step();
      now_ = replayed_state_;
      words.push_back(std::move(words_));
    }
    return words;
  }

  std::string Violated(const ModelState& state) const {
    for (int entry = 0; entry < entries(); ++entry) {
      const auto& fact = state.facts[static_cast<std::size_t>(entry)];
      if (fact.differs != 0) return Text(entry) + " is committed with two values";
      if (NameOf(entry).log != 0 || fact.committed == 0 || fact.no_op != 0) continue;
      for (int other = 0; other < entries(); ++other) {
        const auto& theirs = state.facts[static_cast<std::size_t>(other)];
        if (NameOf(other).log == 0 || theirs.committed == 0 || theirs.no_op != 0) continue;
        if (fact.dependency < NameOf(other).index && theirs.dependency < NameOf(entry).index) {
          return Text(entry) + " and " + Text(other) + " are committed in no order";
        }
      }
    }
    return {};
  }

  const Scope scope_;
  const Rules rules_;
  const Quorums quorums_;
  const std::size_t states_max_;
  // How a state was found: by that step, counted from 0, from that state.
  struct Way {
    std::uint32_t from = 0;
    std::uint32_t step = 0;
  };

  std::unordered_set<Print, PrintHash> known_;
  std::vector<Way> ways_;        // of all states, in the order of their discovery
  std::deque<ModelState> left_;  // found, and not stepped from
  Way way_;                      // of the next step
  ModelState first_;
  ModelState now_;
  Explored result_;
  std::size_t bad_ = 0;    // the state that violates an invariant
  std::size_t stuck_ = 0;  // takeovers that cannot go on in the present state
  bool has_begun_ = false;
  std::optional<std::string> wanted_;  // the next step of Begin
  // StepsTo takes one step again, and keeps what it leads to.
  std::optional<std::uint32_t> replayed_;
  ModelState replayed_state_;
  std::string words_;
};

}  // namespace

Explored Explore(const Scope& scope, const Rules& rules, std::size_t states_max) {
  return Exploration(scope, rules, states_max).Run();
}

}  // namespace depfast::copilot
