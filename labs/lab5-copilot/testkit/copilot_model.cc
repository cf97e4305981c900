#include "copilot_model.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

namespace depfast::copilot {
namespace {

using Cell = ModelState::Cell;
using Kind = Record::Kind;

enum Stage : std::uint8_t { kIdle, kFast, kSlow, kPreparing, kAccepting, kDone };

constexpr std::uint8_t kNewView = ModelState::kNewView;

// One of an entry's two proposals: that of the successor, or of its predecessor.
struct Attempt {
  int entry;
  bool anew;

  std::size_t number() const { return anew ? 1 : 0; }
  std::uint8_t ballot() const { return anew ? kNewView : 0; }
};

void SetRecord(Cell& cell, const Record& record) {
  cell.kind = static_cast<std::uint8_t>(record.kind);
  cell.no_op = record.no_op;
  cell.ballot = static_cast<std::uint8_t>(record.ballot);
  if (record.kind <= Kind::kSuggested) cell.initial = static_cast<std::uint8_t>(record.initial);
  cell.dependency = static_cast<std::uint8_t>(record.no_op ? 0 : record.dependency);
}

class Exploration : public StateSearch<ModelState, Coverage> {
 public:
  Exploration(const Scope& scope, const Rules& rules)
      : scope_(scope), rules_(rules), quorums_(scope.replicas) {}

 private:
  // ---- views ----

  bool Changes(int log) const { return scope_.succession && scope_.succession->log == log; }
  bool KnowsNewView(int replica) const {
    return now().replicas[static_cast<std::size_t>(replica)].knows_view != 0;
  }
  static void LearnNewView(ModelState& state, int replica) {
    state.replicas[static_cast<std::size_t>(replica)].knows_view = 1;
  }
  // Hears a message of a ballot, which may begin a view at the replica. False if the view is old.
  bool Knows(ModelState& next, int replica, int log, std::uint8_t ballot) const {
    if (!Changes(log)) return true;
    if (ballot >= kNewView) LearnNewView(next, replica);
    return ballot >= kNewView || !KnowsNewView(replica);
  }

  int PilotOf(int log, bool in_new_view) const {
    return in_new_view ? scope_.succession->successor : log;
  }
  int ProposerOf(const Attempt& attempt) const {
    return PilotOf(NameOf(attempt.entry).log, attempt.anew);
  }
  View ViewNumber(int log, bool is_new) const { return static_cast<View>(PilotOf(log, is_new)); }
  Ballot BallotIn(int log, std::uint8_t ballot) const {
    const bool is_new = ballot >= kNewView;
    return FirstBallot(ViewNumber(log, is_new)) + (is_new ? ballot - kNewView : ballot);
  }
  Record RecordOf(const Cell& cell, int log) const {
    const auto kind = static_cast<Kind>(cell.kind);
    return {kind,
            cell.no_op != 0,
            BallotIn(log, cell.promised),
            kind == Kind::kNone ? 0 : BallotIn(log, cell.ballot),
            cell.initial,
            cell.dependency,
            PilotOf(1 - log, cell.witness != 0),
            cell.least};
  }

  void Succeed() {
    if (now().elected != 0) return;
    const bool has_asked = KnowsNewView(scope_.succession->successor);
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      const bool is_asked =
          replica == scope_.succession->successor || (has_asked && Hears(replica));
      if (is_asked && !KnowsNewView(replica)) Grant(replica);
    }
    Elect();
  }

  void Grant(int replica) {
    const auto& [log, successor] = *scope_.succession;
    ModelState next = now();
    LearnNewView(next, replica);
    next.replicas[static_cast<std::size_t>(replica)].granted =
        static_cast<std::uint8_t>(1 + LatestKnown(replica, log));
    const std::string words = replica == successor ? " asks for lane " : " grants lane ";
    const std::string lane = LaneText(log);
    Visit(next, [&] { return Replica(replica) + words + lane; });
  }

  // Any majority of grants may have come.
  void Elect() {
    std::set<std::uint8_t> latest;
    ForEachMajority(scope_.succession->successor, [&](unsigned members) {
      std::uint8_t most = 0;
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        if ((members >> replica & 1) == 0) continue;
        const auto granted = now().replicas[static_cast<std::size_t>(replica)].granted;
        if (granted == 0) return;
        most = std::max(most, granted);
      }
      latest.insert(most);
    });
    for (const std::uint8_t most : latest) {
      ModelState next = now();
      next.elected = most;
      Visit(next, [&] {
        const std::string lane = LaneText(scope_.succession->log);
        return Replica(scope_.succession->successor) + " has lane " + lane + " behind " + lane +
               "." + std::to_string(most - 1);
      });
    }
  }

  // ---- names ----

  int entries() const { return static_cast<int>(scope_.entries.size()); }
  EntryName NameOf(int entry) const { return scope_.entries[static_cast<std::size_t>(entry)]; }
  static std::string LaneText(int log) { return log == 0 ? "P" : "Q"; }
  std::string Text(int entry) const {
    return LaneText(NameOf(entry).log) + "." + std::to_string(NameOf(entry).index);
  }
  int Find(int log, EntryIndex index) const {
    for (int entry = 0; entry < entries(); ++entry) {
      if (NameOf(entry) == EntryName{log, index}) return entry;
    }
    return -1;
  }
  static Cell& At(ModelState& state, int replica, int entry) {
    auto& cells = state.replicas[static_cast<std::size_t>(replica)].cells;
    return cells[static_cast<std::size_t>(entry)];
  }
  const Cell& Now(int replica, int entry) const {
    const auto& cells = now().replicas[static_cast<std::size_t>(replica)].cells;
    return cells[static_cast<std::size_t>(entry)];
  }
  static ModelState::Proposal& At(ModelState& state, const Attempt& attempt) {
    return state.proposals[attempt.number()][static_cast<std::size_t>(attempt.entry)];
  }
  const ModelState::Proposal& Now(const Attempt& attempt) const {
    return now().proposals[attempt.number()][static_cast<std::size_t>(attempt.entry)];
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

  void Step() override {
    for (int entry = 0; entry < entries(); ++entry) {
      TryInView({entry, /*anew=*/false});
      if (Changes(NameOf(entry).log)) TryInView({entry, /*anew=*/true});
      for (int replica = 0; replica < scope_.replicas; ++replica) Learn(replica, entry);
    }
    if (scope_.succession) Succeed();
    if (scope_.pilot_restarts && now().restarted == 0) Restart();
    stuck_ = 0;
    for (int number = 0; number < static_cast<int>(scope_.takeovers.size()); ++number) {
      TakeOver(number);
    }
    if (scope_.crash == Crash::kBothPilots && stuck_ == scope_.takeovers.size() && stuck_ > 1) {
      Violate("all takeovers wait for each other");
    }
  }

  // The steps of an entry's proposer, and of the replicas that hear from it.
  void TryInView(const Attempt& attempt) {
    Propose(attempt);
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      HandleFastAccept(replica, attempt);
      HandleAccept(replica, attempt.entry, attempt.ballot(), Now(attempt), kSlow);
    }
    CommitFast(attempt);
    GoSlow(attempt);
    CommitSlow(attempt);
  }

  void Restart() {
    ModelState next = now();
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
  bool Forgets(int replica) const { return replica == 0 && now().restarted != 0; }

  void SetCommitted(Cell& cell, int replica, const Value& value, std::uint8_t origin) const {
    if (!value.no_op) cell.origin = origin;
    if (!scope_.pilot_restarts) cell.keeps = 0;
    if (scope_.pilot_restarts && replica == 0) {
      cell.was = {cell.kind, cell.no_op, cell.ballot, cell.dependency};
    }
    SetRecord(cell, {Kind::kCommitted, value.no_op, 0, cell.ballot, 0, value.dependency});
  }

  // Whether the proposer may begin with this entry: as a rule, the one behind its last one.
  bool IsNext(const Attempt& attempt) const {
    const auto [log, index] = NameOf(attempt.entry);
    const EntryIndex first = attempt.anew ? now().elected : 1;
    if (attempt.anew && (now().elected == 0 || index < first)) return false;
    const int before = index > first ? Find(log, index - 1) : -1;
    return before < 0 || Now(Attempt{before, attempt.anew}).stage != kIdle;
  }

  void Propose(const Attempt& attempt) {
    const int proposer = ProposerOf(attempt);
    const int log = NameOf(attempt.entry).log;
    if (Forgets(proposer) || !HasLane(attempt) || !IsNext(attempt)) return;
    if (Now(attempt).stage != kIdle || !MayRecord(proposer, attempt)) return;
    // The pilot may have heard of entries that only others have recorded.
    EntryIndex heard = 0;
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      heard = std::max(heard, LatestKnown(replica, 1 - log));
    }
    for (EntryIndex seen = LatestKnown(proposer, 1 - log); seen <= heard; ++seen) {
      ModelState next = now();
      At(next, attempt) = {.stage = kFast,
                           .initial = static_cast<std::uint8_t>(seen),
                           .witness = Changes(1 - log) && KnowsNewView(proposer),
                           .origin = attempt.anew};
      FastAccept(next, proposer, attempt);
      if (attempt.anew && Now(Attempt{attempt.entry, false}).stage != kIdle) {
        ++coverage().proposed_again;
      }
      Visit(next, [&] {
        return Replica(proposer) + " proposes " + Text(attempt.entry) + " with dependency " +
               std::to_string(seen);
      });
    }
  }

  // Whether the replica records this proposal, if it has come: that of a view once.
  bool MayRecord(int replica, const Attempt& attempt) const {
    const Cell& cell = Now(replica, attempt.entry);
    if (cell.promised > attempt.ballot()) return false;
    const auto kind = static_cast<Kind>(cell.kind);
    if (kind == Kind::kNone) return true;
    return kind < Kind::kAccepted && cell.ballot < attempt.ballot();
  }

  // Record::least before another proposal or Accept: see the reference.
  static EntryIndex LeastBefore(const Cell& cell) {
    constexpr EntryIndex kNone = 0xFF;
    if (cell.kind != 0) return cell.least;
    return cell.promised % kNewView != 0 ? 0 : kNone;
  }

  void FastAccept(ModelState& next, int replica, const Attempt& attempt) const {
    const auto [log, index] = NameOf(attempt.entry);
    const auto& proposal = At(next, attempt);
    const EntryIndex initial = proposal.initial;
    const auto records = LogOf(replica, 1 - log);
    const auto suggestion = rules_.suggestion(index, initial, {0, records, 0});
    Cell& cell = At(next, replica, attempt.entry);
    const EntryIndex dependency = suggestion.value_or(initial);
    cell.least = static_cast<std::uint8_t>(rules_.least(LeastBefore(cell), initial));
    cell.witness = proposal.witness;
    cell.origin = proposal.origin;
    cell.promised = attempt.ballot();
    SetRecord(cell, {suggestion ? Kind::kSuggested : Kind::kFastAccepted, false, 0,
                     attempt.ballot(), initial, dependency});
    cell.answer[attempt.number()] = static_cast<std::uint8_t>(1 + dependency);
    cell.fast_ok[attempt.number()] = !suggestion;
  }

  bool Hears(int replica) const {
    return !has_begun() || replica >= static_cast<int>(scope_.crash);
  }

  void HandleFastAccept(int replica, const Attempt& attempt) {
    if (!Hears(replica) || Now(attempt).stage == kIdle || !MayRecord(replica, attempt)) return;
    ModelState next = now();
    if (!Knows(next, replica, NameOf(attempt.entry).log, attempt.ballot())) return;
    FastAccept(next, replica, attempt);
    Visit(next, [&] {
      const Cell& after = At(next, replica, attempt.entry);
      return Replica(replica) +
             (after.fast_ok[attempt.number()] != 0 ? " fast-accepts " : " suggests for ") +
             Text(attempt.entry) + " dependency " + std::to_string(after.dependency);
    });
  }

  bool HasLane(const Attempt& attempt) const {
    const int log = NameOf(attempt.entry).log;
    return attempt.anew ? now().elected != 0 : !(Changes(log) && KnowsNewView(log));
  }

  // The proposer decides by its own record: after a promise it does nothing at its ballot.
  bool MayDecide(const Attempt& attempt, Stage stage) const {
    const int proposer = ProposerOf(attempt);
    return Now(attempt).stage == stage && !Forgets(proposer) && HasLane(attempt) &&
           Now(proposer, attempt.entry).promised == attempt.ballot();
  }

  void CommitFast(const Attempt& attempt) {
    if (!MayDecide(attempt, kFast)) return;
    const auto is_ok = [&](int replica) {
      return static_cast<int>(Now(replica, attempt.entry).fast_ok[attempt.number()]);
    };
    int oks = 0;
    for (int replica = 0; replica < scope_.replicas; ++replica) oks += is_ok(replica);
    const int quorum = rules_.fast_quorum > 0 ? rules_.fast_quorum : quorums_.fast();
    if (oks < quorum) return;
    const int witness_oks = is_ok(1 - NameOf(attempt.entry).log);
    if (witness_oks == 0 || !scope_.pilot_restarts) {
      CommitFast(attempt, /*on_disk=*/true);
    } else {
      CommitFast(attempt, /*on_disk=*/false);
      if (oks - witness_oks >= quorum) CommitFast(attempt, /*on_disk=*/true);
    }
  }

  // `on_disk`: the proposer does not forget the commit.
  void CommitFast(const Attempt& attempt, bool on_disk) {
    ModelState next = now();
    auto& proposal = At(next, attempt);
    proposal.stage = kDone;
    proposal.dependency = proposal.initial;
    ++coverage().fast_commits;
    const int proposer = ProposerOf(attempt);
    if (on_disk) At(next, proposer, attempt.entry).keeps = 1;
    Commit(next, proposer, attempt.entry, proposal, "on the fast path");
  }

  // Any majority of answers may have come so far.
  void GoSlow(const Attempt& attempt) {
    if (!MayDecide(attempt, kFast)) return;
    const int proposer = ProposerOf(attempt);
    std::set<EntryIndex> finals;
    ForEachMajority(proposer, [&](unsigned members) {
      std::vector<EntryIndex> suggested;
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        if ((members >> replica & 1) == 0) continue;
        const auto answer = Now(replica, attempt.entry).answer[attempt.number()];
        if (answer == 0) return;
        suggested.push_back(answer - 1U);
      }
      finals.insert(rules_.slow_dependency(std::move(suggested), quorums_));
    });
    for (const EntryIndex dependency : finals) {
      ModelState next = now();
      auto& proposal = At(next, attempt);
      proposal.stage = kSlow;
      proposal.dependency = static_cast<std::uint8_t>(dependency);
      Accept(next, proposer, attempt.entry, attempt.ballot(), proposal);
      Visit(next, [&] {
        return Replica(proposer) + " takes the slow path for " + Text(attempt.entry) +
               " with dependency " + std::to_string(dependency);
      });
    }
  }

  static void Accept(ModelState& next, int replica, int entry, std::uint8_t ballot,
                     const ModelState::Proposal& proposal) {
    Cell& cell = At(next, replica, entry);
    cell.accepted |= static_cast<std::uint8_t>(1U << ballot);
    const EntryIndex least = LeastBefore(cell);
    cell.promised = ballot;
    if (cell.kind == static_cast<std::uint8_t>(Kind::kCommitted)) return;
    if (cell.kind == 0) cell.initial = proposal.initial;
    cell.least = static_cast<std::uint8_t>(std::min<EntryIndex>(cell.initial, least));
    if (proposal.no_op == 0) cell.origin = proposal.origin;
    SetRecord(cell, {Kind::kAccepted, proposal.no_op != 0, ballot, ballot, 0, proposal.dependency});
  }

  void HandleAccept(int replica, int entry, std::uint8_t ballot,
                    const ModelState::Proposal& proposal, Stage stage) {
    const Cell& cell = Now(replica, entry);
    if (!Hears(replica) || proposal.stage != stage) return;
    if (cell.promised > ballot || (cell.accepted >> ballot & 1) != 0) return;
    ModelState next = now();
    if (!Knows(next, replica, NameOf(entry).log, ballot)) return;
    Accept(next, replica, entry, ballot, proposal);
    Visit(next, [&] {
      return Replica(replica) + " accepts " + Text(entry) + " at ballot " + std::to_string(ballot);
    });
  }

  bool IsAccepted(int entry, std::uint8_t ballot) const {
    int oks = 0;
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      oks += Now(replica, entry).accepted >> ballot & 1;
    }
    return oks >= quorums_.majority();
  }

  void CommitSlow(const Attempt& attempt) {
    if (!MayDecide(attempt, kSlow) || !IsAccepted(attempt.entry, attempt.ballot())) return;
    ModelState next = now();
    auto& proposal = At(next, attempt);
    proposal.stage = kDone;
    ++coverage().slow_commits;
    Commit(next, ProposerOf(attempt), attempt.entry, proposal, "on the slow path");
  }

  // `accepted`: the value, and where its commands come from.
  void Commit(ModelState next, int replica, int entry, const ModelState::Proposal& accepted,
              const char* how) {
    const bool no_op = accepted.no_op != 0;
    const std::uint8_t dependency = no_op ? 0 : accepted.dependency;
    const std::uint8_t origin = no_op ? 0 : accepted.origin;
    SetCommitted(At(next, replica, entry), replica, {no_op, dependency}, origin);
    auto& fact = next.facts[static_cast<std::size_t>(entry)];
    if (fact.committed != 0) {
      fact.differs |=
          (fact.no_op != 0) != no_op || fact.dependency != dependency || fact.origin != origin;
    } else {
      fact = {1, no_op, dependency, origin, 0};
    }
    Visit(next, [&] {
      return Replica(replica) + " commits " + Text(entry) +
             (no_op ? " as a no-op " : " with dependency " + std::to_string(dependency) + " ") +
             how;
    });
  }

  void Learn(int replica, int entry) {
    const auto& fact = now().facts[static_cast<std::size_t>(entry)];
    const Cell& cell = Now(replica, entry);
    if (!Hears(replica) || fact.committed == 0) return;
    if (cell.kind == static_cast<std::uint8_t>(Kind::kCommitted)) return;
    ModelState next = now();
    SetCommitted(At(next, replica, entry), replica, {fact.no_op != 0, fact.dependency},
                 fact.origin);
    Visit(next, [&] { return Replica(replica) + " learns the commit of " + Text(entry); });
  }

  // ---- takeover ----

  std::uint8_t BallotOf(int number) const {
    const bool is_new = scope_.takeovers[static_cast<std::size_t>(number)].in_new_view;
    return static_cast<std::uint8_t>((is_new ? kNewView : 0) + number + 1);
  }

  void TakeOver(int number) {
    const TakeoverPlan& plan = scope_.takeovers[static_cast<std::size_t>(number)];
    const int taker = plan.taker;
    const int entry = Find(plan.entry.log, plan.entry.index);
    const std::uint8_t ballot = BallotOf(number);
    const auto& takeover = now().takeovers[static_cast<std::size_t>(number)];
    if (takeover.stage == kIdle) {
      if (Now(taker, entry).kind == static_cast<std::uint8_t>(Kind::kCommitted)) return;
      if (Changes(plan.entry.log) && KnowsNewView(taker) != plan.in_new_view) return;
      ModelState next = now();
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
      ModelState next = now();
      next.takeovers[static_cast<std::size_t>(number)].stage = kDone;
      Commit(next, taker, entry, takeover, "by its takeover");
    }
  }

  void Prepare(int replica, int entry, int number) {
    const Cell& cell = Now(replica, entry);
    const std::uint8_t ballot = BallotOf(number);
    if (!Hears(replica) || cell.promised >= ballot) return;
    ModelState next = now();
    const auto [log, index] = NameOf(entry);
    if (!Knows(next, replica, log, ballot)) return;
    Cell& promised = At(next, replica, entry);
    promised.promised = ballot;
    if (cell.kind != static_cast<std::uint8_t>(Kind::kCommitted)) promised.least = 0;
    auto& said = promised.prepared[static_cast<std::size_t>(number)];
    said = {1,           cell.kind,    cell.no_op,      cell.promised,
            cell.ballot, cell.initial, cell.dependency, cell.witness,
            cell.origin};
    const auto records = LogOf(replica, 1 - log);
    for (const Rival& rival : rules_.rivals(index, 0, {0, records, 0})) {
      if (rival.entry < 1 || rival.entry > kEntriesMax) continue;  // a wrong rule's
      said[ModelState::kSaid - 1 + rival.entry] = ByteOf(rival, 1 - log);
    }
    Visit(next, [&] {
      return Replica(replica) + " promises " + Text(entry) + " at ballot " + std::to_string(ballot);
    });
  }

  // 0 stands for none.
  std::uint8_t ByteOf(const Rival& rival, int log) const {
    const bool is_new = Changes(log) && rival.view == ViewNumber(log, true);
    return static_cast<std::uint8_t>(1 + 2 * static_cast<int>(rival.stage) + (is_new ? 1 : 0));
  }

  template <typename Said>
  std::vector<Rival> RivalsIn(const Said& said, int log) const {
    std::vector<Rival> rivals;
    for (EntryIndex entry = 1; entry <= kEntriesMax; ++entry) {
      const int byte = said[ModelState::kSaid - 1 + entry];
      if (byte == 0) continue;
      rivals.push_back(
          {entry, ViewNumber(log, (byte - 1) % 2 != 0), static_cast<Rival::Stage>((byte - 1) / 2)});
    }
    return rivals;
  }

  // The record that was said, with `origin`.
  template <typename Said>
  static Cell CellIn(const Said& said) {
    Cell cell;
    cell.kind = said[1], cell.no_op = said[2], cell.promised = said[3];
    cell.ballot = said[4], cell.initial = said[5], cell.dependency = said[6];
    cell.witness = said[7], cell.origin = said[8];
    return cell;
  }

  // Which of two answers the commands and the initial dependency come from: as the reference has
  // it.
  static bool CountsLess(const Cell& one, const Cell& other) {
    const auto rank = [](const Cell& cell) {
      const auto kind = static_cast<Kind>(cell.kind);
      const bool is_settled = kind >= Kind::kAccepted;
      return std::tuple(kind == Kind::kCommitted, is_settled, cell.ballot,
                        is_settled ? cell.kind : std::min<std::uint8_t>(cell.kind, 1));
    };
    return rank(one) < rank(other);
  }

  // Whether the replica has proposed the record that it has told of, and knows what became of it.
  bool Decides(int replica, const Cell& said, int log) const {
    const bool is_new = Changes(log) && said.ballot >= kNewView;
    return said.kind != 0 && replica == PilotOf(log, is_new) && !Forgets(replica);
  }

  void Choose(int number, int taker, int entry) {
    std::set<ModelState::Proposal> chosen;
    const int log = NameOf(entry).log;
    const auto other = LogOf(taker, 1 - log);
    ForEachMajority(kAnybody, [&](unsigned members) {
      std::vector<Prepared> answers;
      std::vector<Cell> cells;
      int fast = 0;
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        if ((members >> replica & 1) == 0) continue;
        const auto& said = Now(replica, entry).prepared[static_cast<std::size_t>(number)];
        if (said[0] == 0) return;
        const Cell& cell = cells.emplace_back(CellIn(said));
        fast += cell.kind == static_cast<std::uint8_t>(Kind::kFastAccepted);
        answers.push_back(
            {replica, RecordOf(cell, log), RivalsIn(said, 1 - log), Decides(replica, cell, log)});
      }
      const auto choice = rules_.choose(NameOf(entry).index, answers, {0, other, 0}, quorums_);
      if (const Value* const value = std::get_if<Value>(&choice)) {
        const Cell& source = *std::ranges::max_element(cells, CountsLess);
        chosen.insert({.stage = kAccepting,
                       .initial = source.initial,
                       .origin = source.origin,
                       .no_op = value->no_op,
                       .dependency = static_cast<std::uint8_t>(value->dependency)});
        if (!value->no_op && fast > 0 && fast < quorums_.f()) ++coverage().by_other_log;
      } else {
        ++coverage().undecided;
      }
    });
    if (chosen.empty() && IsStuck(number, taker, entry)) ++stuck_;
    for (const auto& each : chosen) {
      ++(each.no_op != 0 ? coverage().given_up : coverage().recovered);
      ModelState next = now();
      next.takeovers[static_cast<std::size_t>(number)] = each;
      Visit(next, [&] {
        return Replica(taker) + " chooses for " + Text(entry) +
               (each.no_op != 0 ? " a no-op" : " dependency " + std::to_string(each.dependency));
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
      if (now().facts[static_cast<std::size_t>(other)].committed != 0 && !knows) return false;
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

  // Makes states equal that behave alike. Votes that no decision asks for again are forgotten, and
  // followers that take nothing over have no order.
  void Normalize(ModelState& state) const override {
    for (int entry = 0; entry < entries(); ++entry) {
      for (const bool anew : {false, true}) ForgetVotes(state, {entry, anew});
    }
    for (std::size_t number = 0; number < scope_.takeovers.size(); ++number) {
      const auto& name = scope_.takeovers[number].entry;
      const auto stage = state.takeovers[number].stage;
      const auto votes = static_cast<std::uint8_t>(1U << BallotOf(static_cast<int>(number)));
      for (int replica = 0; replica < scope_.replicas; ++replica) {
        Cell& cell = At(state, replica, Find(name.log, name.index));
        if (stage != kPreparing) cell.prepared[number] = {};
        if (stage != kAccepting) cell.accepted &= static_cast<std::uint8_t>(~votes);
      }
    }
    if (state.elected != 0) {
      for (auto& replica : state.replicas) replica.granted = 0;
    }
    int first = 2;
    for (const auto& each : scope_.takeovers) first = std::max(first, each.taker + 1);
    if (scope_.succession) first = std::max(first, scope_.succession->successor + 1);
    std::sort(state.replicas.begin() + first, state.replicas.begin() + scope_.replicas);
  }

  void ForgetVotes(ModelState& state, const Attempt& attempt) const {
    if (attempt.anew && !scope_.succession) return;
    const auto stage = At(state, attempt).stage;
    const bool decides = At(state, ProposerOf(attempt), attempt.entry).promised == attempt.ballot();
    const auto votes = static_cast<std::uint8_t>(1U << attempt.ballot());
    for (int replica = 0; replica < scope_.replicas; ++replica) {
      Cell& cell = At(state, replica, attempt.entry);
      if (!decides || stage != kFast) {
        cell.answer[attempt.number()] = cell.fast_ok[attempt.number()] = 0;
      }
      if (!decides || stage != kSlow) cell.accepted &= static_cast<std::uint8_t>(~votes);
    }
  }

  std::string Violated(const ModelState& state) const override {
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
  std::size_t stuck_ = 0;  // takeovers that cannot go on in the present state
};

}  // namespace

Explored Explore(const Scope& scope, const Rules& rules, std::size_t states_max) {
  return Exploration(scope, rules).Search(scope.begin, states_max);
}

}  // namespace depfast::copilot
