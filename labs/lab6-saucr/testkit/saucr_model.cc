#include "saucr_model.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace depfast::saucr {
namespace {

using Byte = ModelState::Byte;
using Id = ModelState::Id;
using Log = ModelState::Log;
using Map = ModelState::Map;
using ReplicaState = ModelState::Replica;
using Term = ModelState::Term;

// An entry id in a byte. The order is that of the ids.
constexpr int kIndexBits = 2;
static_assert(kEntriesMax < 1U << kIndexBits);

Id IdOf(EntryId id) { return static_cast<Id>(id.term << kIndexBits | id.index); }
EntryId EntryOf(Id id) { return {static_cast<Id>(id >> kIndexBits), id % (1U << kIndexBits)}; }

std::size_t LengthOf(const Log& log) {
  std::size_t length = 0;
  while (length < log.size() && log[length] != 0) ++length;
  return length;
}

EntryId EntryAt(const Log& log, std::size_t index) {
  return index == 0 ? EntryId() : EntryId{log[index - 1], index};
}
EntryId LastOf(const Log& log) { return EntryAt(log, LengthOf(log)); }
bool IsWhole(const ReplicaState& replica) {
  return LastOf(replica.log) >= EntryOf(replica.recovered);
}

// The entries that two logs have in common.
std::size_t Common(const Log& one, const Log& other) {
  std::size_t length = 0;
  while (length < one.size() && one[length] != 0 && one[length] == other[length]) ++length;
  return length;
}

// The lives that an acknowledgement carries, in a number that is not 0.
constexpr std::size_t kLifeBits = 2;
static_assert(kLivesMax <= 1U << kLifeBits);

template <typename LivesOf>
std::uint16_t Packed(const LivesOf& lives) {
  unsigned packed = 1;
  for (const unsigned life : lives) packed = packed << kLifeBits | life;
  return static_cast<std::uint16_t>(packed);
}

Life LifeIn(std::uint16_t packed, std::size_t replica) {
  return packed >> kLifeBits * (kReplicasMax - 1 - replica) & ((1U << kLifeBits) - 1);
}

std::string Text(EntryId id) {
  return "(" + std::to_string(id.term) + "," + std::to_string(id.index) + ")";
}
std::string Name(std::size_t replica) { return "replica " + std::to_string(replica); }

class Exploration : public StateSearch<ModelState, Coverage> {
 public:
  Exploration(const Scope& scope, const Rules& rules)
      : scope_(scope),
        rules_(rules),
        quorums_(scope.replicas),
        n_(static_cast<std::size_t>(scope.replicas)) {
    const bool fits = scope.replicas <= static_cast<int>(kReplicasMax) &&
                      scope.terms <= static_cast<int>(kTermsMax) &&
                      scope.entries <= static_cast<int>(kEntriesMax) &&
                      scope.crashes < static_cast<int>(kLivesMax);
    if (!fits) throw std::invalid_argument("a scope is larger than the model");
  }

 private:
  // ---- one step from the present state, in all ways ----

  void Step() override {
    for (std::size_t replica = 0; replica < n_; ++replica) {
      Campaign(replica);
      Flushes(replica);
      Crash(replica);
      for (std::size_t other = 0; other < n_; ++other) HearLle(replica, other);
    }
    for (std::size_t term = 1; term <= kTermsMax && At(now(), term).candidate != 0; ++term) {
      for (std::size_t replica = 0; replica < n_; ++replica) {
        Vote(replica, term);
        TellLog(replica, term);
        Acknowledge(replica, term);
      }
      Propose(term);
    }
  }

  static Term& At(ModelState& state, std::size_t term) { return state.terms[term - 1]; }
  static const Term& At(const ModelState& state, std::size_t term) { return state.terms[term - 1]; }
  static std::size_t LeaderOf(const Term& term) { return term.candidate - 1U; }
  // Whether the term's candidate has that role in the term yet.
  static bool Is(const ModelState& state, std::size_t term, ModelState::Role role) {
    if (At(state, term).candidate == 0) return false;
    const ReplicaState& candidate = state.replicas[LeaderOf(At(state, term))];
    return candidate.term == term && candidate.role == role;
  }

  // ---- values of the rules ----

  LleMap MapOf(const Map& map) const {
    LleMap ids;
    for (std::size_t replica = 0; replica < n_; ++replica) ids.push_back(EntryOf(map[replica]));
    return ids;
  }
  Map BytesOf(LleMap ids) const {
    ids.resize(n_);  // a wrong rule's may have another size
    Map map{};
    std::ranges::transform(ids, map.begin(), IdOf);
    return map;
  }
  void Merge(Map& ours, const Map& told) const {
    ours = BytesOf(rules_.merged(MapOf(ours), MapOf(told)));
  }
  static Markers MarkersOf(const ReplicaState& replica) {
    return {EntryOf(replica.fast_switch), EntryOf(replica.latest_on_disk)};
  }

  // ---- elections ----

  // A leader may have stepped down before.
  void Campaign(std::size_t replica) {
    std::size_t term = 1;
    while (term <= kTermsMax && At(now(), term).candidate != 0) ++term;
    const ReplicaState& candidate = now().replicas[replica];
    if (std::cmp_greater(term, scope_.terms) || candidate.recovering != 0) return;
    ModelState next = now();
    next.replicas[replica].term = static_cast<Byte>(term);
    next.replicas[replica].role = ModelState::kCandidate;
    At(next, term).candidate = static_cast<Byte>(replica + 1);
    At(next, term).votes = static_cast<Byte>(1U << replica);
    At(next, term).lle = IdOf(VotedBy(candidate));
    Visit(next, [&] { return Name(replica) + " campaigns in term " + std::to_string(term); });
  }

  // The LLE by which a replica votes.
  EntryId VotedBy(const ReplicaState& replica) const {
    const EntryId recovered = EntryOf(replica.recovered);
    const EntryId last = LastOf(replica.log);
    if (!rules_.recovered_lle_votes) return last;
    if (!rules_.log_votes && replica.recovered != 0) return recovered;
    return std::max(recovered, last);
  }

  // The first majority of votes elects.
  void Vote(std::size_t voter, std::size_t term) {
    const ReplicaState& replica = now().replicas[voter];
    if (!Is(now(), term, ModelState::kCandidate) || replica.term >= term) return;
    const EntryId candidates = EntryOf(At(now(), term).lle);
    if (!rules_.grants_vote(replica.recovering != 0, VotedBy(replica), candidates)) return;
    ModelState next = now();
    Follow(next.replicas[voter], term);
    At(next, term).votes |= static_cast<Byte>(1U << voter);
    Merge(At(next, term).map_of_votes, replica.map);
    const std::size_t candidate = LeaderOf(At(next, term));
    if (std::popcount(At(next, term).votes) == quorums_.majority()) {
      Merge(next.replicas[candidate].map, At(next, term).map_of_votes);
      next.replicas[candidate].role = ModelState::kWantsData;
      if (IsWhole(next.replicas[candidate]) || !rules_.leaders_wait_for_data) Lead(next, term);
    }
    Visit(next, [&] {
      const Byte role = next.replicas[candidate].role;
      return Name(voter) + " votes for replica " + std::to_string(candidate) + " in term " +
             std::to_string(term) +
             (role == ModelState::kLeads       ? ", which leads"
              : role == ModelState::kWantsData ? ", which needs its data"
                                               : "");
    });
  }

  static void Follow(ReplicaState& replica, std::size_t term) {
    if (replica.term >= term) return;
    replica.term = static_cast<Byte>(term);
    replica.role = ModelState::kFollower;
  }

  static void Lead(ModelState& state, std::size_t number) {
    Term& term = At(state, number);
    ReplicaState& leader = state.replicas[LeaderOf(term)];
    leader.role = ModelState::kLeads;
    term.leads = 1;
    term.log = leader.log;
    const std::size_t length = LengthOf(term.log);
    term.began_at = static_cast<Byte>(length + 1);
    std::fill_n(term.maps.begin(), length, leader.map);
  }

  // ---- a new leader's data ----

  void TellLog(std::size_t replica, std::size_t number) {
    if (!Is(now(), number, ModelState::kWantsData)) return;
    const Term& term = At(now(), number);
    const ReplicaState& asked = now().replicas[replica];
    if (asked.term > number || asked.recovering != 0) return;
    if (replica == LeaderOf(term) || term.logs[replica].told != 0) return;
    ModelState next = now();
    if (rules_.fetch_ends_terms) Follow(next.replicas[replica], number);
    At(next, number).logs[replica] = {1, IsWhole(asked), asked.log};
    const auto kind = TakeData(next, number);
    Visit(next, [&] {
      const std::string log = "sends its log, up to " + Text(LastOf(asked.log)) +
                              (IsWhole(asked) ? "" : ", which is not whole") + ", to replica " +
                              std::to_string(LeaderOf(term));
      return Name(replica) + " " + log +
             (kind == DataChoice::Kind::kAskMore ? ""
              : kind == DataChoice::Kind::kTake  ? ", which takes a log and leads"
                                                 : ", which keeps its own log and leads");
    });
  }

  DataChoice::Kind TakeData(ModelState& state, std::size_t number) {
    Term& term = At(state, number);
    ReplicaState& leader = state.replicas[LeaderOf(term)];
    std::vector<LogAnswer> answers;
    for (std::size_t replica = 0; replica < n_; ++replica) {
      const auto& [told, is_whole, log] = term.logs[replica];
      if (told != 0) answers.push_back({static_cast<PeerId>(replica), LastOf(log), is_whole != 0});
    }
    const auto [kind, from] =
        rules_.choose(LastOf(leader.log), EntryOf(leader.recovered), answers, quorums_);
    if (kind == DataChoice::Kind::kAskMore) return kind;
    if (kind == DataChoice::Kind::kTake) {
      const bool is_known = from >= 0 && std::cmp_less(from, n_) &&
                            term.logs[static_cast<std::size_t>(from)].told != 0;
      if (!is_known) return DataChoice::Kind::kAskMore;  // a wrong rule's
      leader.log = term.logs[static_cast<std::size_t>(from)].log;
      ++coverage().data_taken;
    }
    if (!IsWhole(leader)) {
      leader.recovered = 0;
      ++coverage().cuts;
    }
    Lead(state, number);
    return kind;
  }

  // ---- entries ----

  void Propose(std::size_t number) {
    if (!Is(now(), number, ModelState::kLeads)) return;
    const std::size_t leader = LeaderOf(At(now(), number));
    const std::size_t length = LengthOf(At(now(), number).log);
    if (std::cmp_greater_equal(length, scope_.entries)) return;
    for (unsigned named = 0; named < 1U << n_; ++named) {
      if ((named >> leader & 1) != 0 || !MayName(named)) continue;
      ModelState next = now();
      Term& term = At(next, number);
      ReplicaState& replica = next.replicas[leader];
      const EntryId id{number, length + 1};
      replica.log[length] = static_cast<Byte>(number);
      term.log = replica.log;
      term.named[length] = static_cast<Byte>(named | 1U << leader);
      replica.map = term.maps[length] = MapWith(replica.map, id, term.named[length]);
      Visit(next, [&] {
        std::string text = Name(leader) + " proposes " + Text(id);
        for (std::size_t each = 0, count = 0; each < n_; ++each) {
          if ((named >> each & 1) != 0)
            text += (count++ == 0 ? " to " : " and ") + std::to_string(each);
        }
        return text;
      });
    }
  }

  // A wrong rule's set of followers may be any. `named` has no leader.
  bool MayName(unsigned named) const {
    if (scope_.names.empty()) return true;
    return std::ranges::count(scope_.names, named) > 0;
  }

  Map MapWith(const Map& known, EntryId last, Byte named) const {
    std::vector<PeerId> replicas;
    for (std::size_t each = 0; each < n_; ++each) {
      if ((named >> each & 1) != 0) replicas.push_back(static_cast<PeerId>(each));
    }
    return BytesOf(rules_.map_of_round(MapOf(known), last, replicas));
  }

  // A replica takes the leader's entries up to each one, and answers from its memory or its disk.
  // The leader does so for its own.
  void Acknowledge(std::size_t replica, std::size_t number) {
    const Term& term = At(now(), number);
    const ReplicaState& before = now().replicas[replica];
    if (term.leads == 0 || before.recovering != 0 || before.term > number) return;
    if (replica == LeaderOf(term) && !Is(now(), number, ModelState::kLeads)) return;
    for (std::size_t last = 1; last <= LengthOf(term.log); ++last) {
      ModelState taken = now();
      if (replica != LeaderOf(term)) Take(taken.replicas[replica], number, last);
      Buffer(taken, replica, number, last);
      if (scope_.disks) Persist(taken, replica, number, last);
    }
  }

  void Take(ReplicaState& replica, std::size_t number, std::size_t last) {
    const Term& term = At(now(), number);
    Follow(replica, number);
    if (Common(replica.log, term.log) < last) {
      replica.log = term.log;
      std::fill(replica.log.begin() + static_cast<std::ptrdiff_t>(last), replica.log.end(), Byte());
    }
    Merge(replica.map, term.maps[last - 1]);
  }

  void Buffer(ModelState next, std::size_t number_of_replica, std::size_t number,
              std::size_t last) {
    ReplicaState& replica = next.replicas[number_of_replica];
    MarkFastSwitch(replica, last);
    Answer(next, number_of_replica, number, last);
    Committed(next, number, [&] {
      return Name(number_of_replica) + " buffers " + Text(EntryAt(At(next, number).log, last));
    });
  }

  // Before an answer for the entries up to `last`.
  void MarkFastSwitch(ReplicaState& replica, std::size_t last) {
    std::vector<EntryId> appended;
    for (std::size_t k = Common(replica.log, replica.disk) + 1; k <= last; ++k) {
      appended.push_back(EntryAt(replica.log, k));
    }
    const auto marker = rules_.fast_switch(MarkersOf(replica), appended);
    if (marker) replica.fast_switch = IdOf(*marker);
  }

  void Persist(ModelState next, std::size_t number_of_replica, std::size_t number,
               std::size_t last) {
    Flush(next.replicas[number_of_replica]);
    Answer(next, number_of_replica, number, last);
    Committed(next, number, [&] {
      return Name(number_of_replica) + " has " + Text(EntryAt(At(next, number).log, last)) +
             " on its disk";
    });
  }

  // The acknowledgement that the replica has the leader's log up to `last` in its memory, and some
  // of it on its disk.
  static void Answer(ModelState& state, std::size_t number_of_replica, std::size_t number,
                     std::size_t last) {
    Term& term = At(state, number);
    const ReplicaState& replica = state.replicas[number_of_replica];
    const std::size_t on_disk = std::min(last, Common(replica.disk, term.log));
    Byte& durable = term.durable[number_of_replica];
    durable = std::max(durable, static_cast<Byte>(on_disk));
    if (last < term.began_at) return;
    const Byte life = replica.lives[number_of_replica];
    auto& buffered = term.buffered[number_of_replica][life][last - 1];
    if (buffered == 0) buffered = Packed(replica.lives);
  }

  // ---- commit ----

  // An acknowledgement that the leader may have received, or none: `carried` is then 0.
  struct Received {
    std::size_t buffered = 0;
    Life life = 0;
    std::uint16_t carried = 0;
  };

  // Visits a state in which there may be a new acknowledgement.
  template <typename Said>
  void Committed(ModelState& next, std::size_t number, const Said& said) {
    Term& term = At(next, number);
    const Byte before = term.committed;
    bool is_fast = false;
    const bool has_news = term != At(now(), number);
    if (has_news && before < LengthOf(term.log) && Is(next, number, ModelState::kLeads)) {
      std::array<Received, kReplicasMax> received{};
      is_fast = Commit(next, number, received, 0);
    }
    if (term.committed > before) ++(is_fast ? coverage().fast_commits : coverage().slow_commits);
    Visit(next, [&] {
      if (term.committed == before) return said();
      return said() + "; " + Text(EntryAt(term.log, term.committed)) + " is committed " +
             (is_fast ? "in memory" : "on disks");
    });
  }

  // Tries all acknowledgements of the replicas from that one on. Whether the last commit needed
  // memories.
  bool Commit(ModelState& next, std::size_t number, std::array<Received, kReplicasMax>& received,
              std::size_t replica) {
    if (replica == n_) return CommitBy(next, number, received);
    const Term& term = At(next, number);
    const ReplicaState& leader = next.replicas[LeaderOf(term)];
    bool is_fast = false;
    bool has_news = false;
    std::uint16_t told = 0;  // by the acknowledgement before
    std::size_t options = 0;
    for (std::size_t life = 0; life < kLivesMax; ++life) {
      for (std::size_t last = LengthOf(term.log); last >= 1; --last) {
        const std::uint16_t carried = term.buffered[replica][life][last - 1];
        if (carried == 0) continue;
        if (carried == told && life == received[replica].life) continue;  // a shorter one
        received[replica] = {last, static_cast<Life>(life), carried};
        told = carried;
        ++options;
        has_news = has_news || carried != Packed(leader.lives);
        is_fast = Commit(next, number, received, replica + 1) || is_fast;
      }
    }
    if (options != 0 && !has_news) return is_fast;
    received[replica] = {};
    return Commit(next, number, received, replica + 1) || is_fast;
  }

  bool CommitBy(ModelState& next, std::size_t number,
                const std::array<Received, kReplicasMax>& received) {
    Term& term = At(next, number);
    const auto& known = next.replicas[LeaderOf(term)].lives;
    Lives lives(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(n_));
    for (const Received& each : received) {
      if (each.carried == 0) continue;
      for (std::size_t other = 0; other < n_; ++other) {
        lives[other] = std::max(lives[other], LifeIn(each.carried, other));
      }
    }
    std::vector<Acks> acks(n_);
    for (std::size_t replica = 0; replica < n_; ++replica) {
      const auto& [buffered, life, carried] = received[replica];
      acks[replica] = {buffered, term.durable[replica], NamedFrom(term, replica),
                       carried != 0 ? life : lives[replica]};
    }
    const auto committed = std::min<std::size_t>(
        rules_.committed(term.began_at, acks, lives, quorums_), LengthOf(term.log));
    if (committed <= term.committed) return false;
    term.committed = static_cast<Byte>(committed);
    const auto on_disks =
        std::ranges::count_if(term.durable, [&](Byte each) { return each >= committed; });
    return std::cmp_less(on_disks, quorums_.majority());
  }

  static EntryIndex NamedFrom(const Term& term, std::size_t replica) {
    EntryIndex from = 0;
    for (std::size_t k = LengthOf(term.log); k >= term.began_at; --k) {
      if ((term.named[k - 1] >> replica & 1) == 0) break;
      from = k;
    }
    return from;
  }

  // ---- disks and crashes ----

  void Flush(ReplicaState& replica) {
    replica.disk = replica.log;
    Mark(replica);
  }

  bool Mark(ReplicaState& replica) {
    const auto marker =
        rules_.latest_on_disk(MarkersOf(replica), LastOf(replica.log), EntryOf(replica.recovered));
    if (!marker) return false;
    replica.latest_on_disk = IdOf(*marker);
    replica.map_on_disk = replica.map;
    return true;
  }

  // The flushes that no answer waits for.
  void Flushes(std::size_t replica) {
    if (now().replicas[replica].recovering != 0) return;
    if (scope_.disks) {
      ModelState next = now();
      Flush(next.replicas[replica]);
      Visit(next, [&] { return Name(replica) + " flushes"; });
    }
    if (scope_.background) {
      ModelState next = now();
      next.replicas[replica].disk = next.replicas[replica].log;
      Visit(next, [&] { return Name(replica) + " flushes in the background"; });
    }
  }

  void Crash(std::size_t replica) {
    if (std::cmp_greater_equal(now().crashes, scope_.crashes)) return;
    CrashFrom(now(), replica, " crashes");
    if (rules_.marker_is_behind_entries || now().replicas[replica].recovering != 0) return;
    ModelState torn = now();
    if (Mark(torn.replicas[replica])) {
      CrashFrom(torn, replica, " crashes when its marker is on the disk, and its entries are not");
    }
  }

  void CrashFrom(ModelState next, std::size_t number, const char* words) {
    ++next.crashes;
    ReplicaState& replica = next.replicas[number];
    replica.log = replica.disk;
    replica.map = replica.map_on_disk;
    replica.lives = replica.lives_on_disk;
    replica.role = ModelState::kFollower;
    replica.recovered = 0;
    replica.answers = {};
    replica.recovering = !rules_.is_on_disk(MarkersOf(replica));
    if (replica.recovering != 0) replica.lives_on_disk[number] = ++replica.lives[number];
    Visit(next, [&] {
      return Name(number) + words +
             (replica.recovering != 0 ? ", and is recovering" : ", and starts from its disk");
    });
  }

  // ---- recovery ----

  // A recovering replica hears what another one's map says.
  void HearLle(std::size_t asker, std::size_t asked) {
    const ReplicaState& before = now().replicas[asker];
    if (before.recovering == 0 || asker == asked || before.answers[asked] != 0) return;
    if (now().replicas[asked].recovering != 0 && rules_.recovering_are_silent) return;
    ModelState next = now();
    ReplicaState& other = next.replicas[asked];
    other.lives[asker] = std::max(other.lives[asker], before.lives[asker]);
    if (rules_.lives_are_durable) other.lives_on_disk[asker] = other.lives[asker];
    ReplicaState& replica = next.replicas[asker];
    replica.answers[asked] = static_cast<Byte>(1 + other.map[asker]);
    if (rules_.maps_are_passed_on) Merge(replica.map, other.map);
    Recover(replica, asker);
    Visit(next, [&] {
      return Name(asker) + " hears of " + Text(EntryOf(other.map[asker])) + " from replica " +
             std::to_string(asked) +
             (replica.recovering == 0 ? ": its LLE is " + Text(EntryOf(replica.recovered)) : "");
    });
  }

  void Recover(ReplicaState& replica, std::size_t number) {
    std::vector<LleMap> maps;
    for (const Byte answer : replica.answers) {
      if (answer == 0) continue;
      maps.emplace_back(n_)[number] = EntryOf(static_cast<Id>(answer - 1));
    }
    const auto lle =
        rules_.recovered_lle(static_cast<PeerId>(number), LastOf(replica.disk), maps, quorums_);
    if (!lle) return;
    ++coverage().recoveries;
    replica.recovering = 0;
    replica.recovered = IdOf(*lle);
    replica.answers = {};
  }

  // ---- states ----

  // Forgets all that no step and no invariant asks for again.
  void Normalize(ModelState& state) const override {
    for (std::size_t number = 1; number <= kTermsMax; ++number) {
      Term& term = At(state, number);
      if (!Is(state, number, ModelState::kCandidate)) {
        term.votes = term.lle = 0;
        term.map_of_votes = {};
      }
      if (!Is(state, number, ModelState::kWantsData)) term.logs = {};
      if (!Is(state, number, ModelState::kLeads)) {
        term.buffered = {};
        term.durable = {};
        term.named = {};
        ForgetUnheard(state, number);
      }
    }
  }

  // The rounds of a leader that is gone, if nobody listens to its term any more.
  void ForgetUnheard(ModelState& state, std::size_t number) const {
    Term& term = At(state, number);
    for (std::size_t replica = 0; replica < n_; ++replica) {
      const bool is_leader = term.candidate != 0 && replica == LeaderOf(term);
      if (!is_leader && state.replicas[replica].term <= number) return;
    }
    term.maps = {};
    term.began_at = 0;
  }

  // No run has more terms than its scope.
  std::size_t KeyBytes() const override {
    return offsetof(ModelState, terms) + static_cast<std::size_t>(scope_.terms) * sizeof(Term);
  }

  std::string Violated(const ModelState& state) const override {
    for (std::size_t one = 1; one <= kTermsMax; ++one) {
      const std::size_t committed = At(state, one).committed;
      if (committed == 0) continue;
      for (std::size_t later = one + 1; later <= kTermsMax; ++later) {
        if (At(state, later).leads == 0) continue;
        const std::size_t common = Common(At(state, one).log, At(state, later).log);
        if (common >= committed) continue;
        return Text(EntryAt(At(state, one).log, common + 1)) + " is committed in term " +
               std::to_string(one) + ", and the leader of term " + std::to_string(later) +
               " lacks it";
      }
    }
    return {};
  }

  const Scope scope_;
  const Rules rules_;
  const Quorums quorums_;
  const std::size_t n_;
};

}  // namespace

Explored Explore(const Scope& scope, const Rules& rules, std::size_t states_max) {
  return Exploration(scope, rules).Search(scope.begin, states_max);
}

}  // namespace depfast::saucr
