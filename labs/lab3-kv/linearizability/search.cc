#include "linearizability/search.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "linearizability/kv_model.h"
#include "linearizability/replies.h"

namespace depfast::kv {
namespace {

using Index = std::size_t;

// A set of small numbers.
class Bits {
 public:
  explicit Bits(std::size_t size) : words_((size + 63) / 64) {}

  bool Has(Index i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void Insert(Index i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void Erase(Index i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  bool IsSubsetOf(const Bits& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & ~other.words_[i]) != 0) return false;
    }
    return true;
  }

  // The words that hold the numbers from `first` to `last`, as bytes.
  std::string Range(Index first, Index last) const {
    std::string out;
    for (std::size_t i = first / 64; i <= last / 64 && i < words_.size(); ++i) {
      for (int shift = 0; shift < 64; shift += 8) {
        out += static_cast<char>(words_[i] >> shift & 0xff);
      }
    }
    return out;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Whether the reply proves that the command changed nothing.
bool OnlyObserves(const ParsedCommand& command, const Reply& reply) {
  switch (command.verb()) {
    case Verb::kSetnx:
    case Verb::kCas:
    case Verb::kDel:
      return reply == Reply::Integer(0);
    case Verb::kIncr:
      return reply.kind != Reply::Kind::kInteger;
    default:
      return command.IsRead();
  }
}

// Different stores have different encodings.
std::string Encoded(const KvModel& store) {
  std::string out;
  for (const auto& [key, value] : store.values()) {
    out += std::to_string(key.size()) + ":" + key + std::to_string(value.size()) + ":" + value;
  }
  return out;
}

enum class Kind { kNone, kCompleted, kPending };

// One way to extend a configuration.
struct Move {
  Kind kind = Kind::kNone;
  Index index = 0;  // into the searcher's list of this kind
  Index store = 0;  // the store after the move
};

class Searcher {
 public:
  Searcher(const SearchProblem& problem, std::uint64_t steps_max);

  SearchResult Run();

 private:
  // A configuration on the current path, and the moves not tried yet from it.
  struct Frame {
    Move entered;   // the move that led to it
    Index highest;  // highest_ before that move
    std::vector<Move> moves;
    std::size_t next = 0;
  };

  Index Intern(const KvModel& store);

  // Completed operations that may come next, by end. The end of the first is the barrier: an
  // operation that begins later may not come next.
  std::vector<Index> Candidates();
  // `before`: the moves of the frame from which this configuration was entered.
  std::vector<Move> Moves(const Move& entered, const std::vector<Move>& before);
  std::optional<Index> TryCompleted(Index i, Index store);
  void AddPendingMoves(const Move& entered, const std::vector<Move>& before, Time barrier,
                       std::vector<Move>& moves);

  void Do(const Move& move);
  void Undo(const Frame& frame);
  bool EnterFirst(Index store);

  const SearchProblem& problem_;
  const std::uint64_t steps_max_;
  std::uint64_t steps_ = 0;

  // Indices into the problem's lists, by begin.
  std::vector<Index> completed_;
  std::vector<Index> pending_;
  std::vector<bool> only_observes_;  // parallel to completed_
  // Parallel to pending_: the last earlier operation with the same command.
  std::vector<std::optional<Index>> twin_;

  // The configuration. The unordered part of completed_ is a list, linked through its end.
  std::vector<Index> next_;
  std::vector<Index> previous_;
  std::size_t unordered_;
  Bits ordered_;
  Bits used_;          // the used operations of pending_
  Index highest_ = 0;  // no ordered index of completed_ is higher

  // The latest end, with the problem's index, that a path reached and could not pass.
  std::pair<Time, Index> furthest_{Time::min(), 0};

  // The stores so far, by number.
  std::vector<KvModel> stores_;
  std::unordered_map<std::string, Index> store_numbers_;

  // The entered configurations: the used pending operations, keyed by the rest of the
  // configuration.
  std::unordered_map<std::string, std::vector<Bits>> entered_;
};

template <typename Before>
std::vector<Index> SortedIndices(std::size_t size, Before before) {
  std::vector<Index> indices(size);
  std::iota(indices.begin(), indices.end(), Index{0});
  std::stable_sort(indices.begin(), indices.end(), before);
  return indices;
}

Searcher::Searcher(const SearchProblem& problem, std::uint64_t steps_max)
    : problem_(problem),
      steps_max_(steps_max),
      completed_(SortedIndices(problem.completed.size(),
                               [&problem](Index a, Index b) {
                                 return problem.completed[a].begin < problem.completed[b].begin;
                               })),
      pending_(SortedIndices(problem.pending.size(),
                             [&problem](Index a, Index b) {
                               return problem.pending[a].begin < problem.pending[b].begin;
                             })),
      unordered_(completed_.size()),
      ordered_(completed_.size()),
      used_(pending_.size()) {
  for (const Index i : completed_) {
    const SearchProblem::Completed& operation = problem.completed[i];
    only_observes_.push_back(OnlyObserves(*operation.command, *operation.reply));
  }
  std::unordered_map<std::string, Index> last_with_command;
  for (Index i = 0; i < pending_.size(); ++i) {
    const auto [twin, is_new] =
        last_with_command.try_emplace(problem.pending[pending_[i]].command->Text(), i);
    twin_.push_back(is_new ? std::nullopt : std::optional(std::exchange(twin->second, i)));
  }
  const Index end = completed_.size();
  for (Index i = 0; i <= end; ++i) {
    next_.push_back(i == end ? 0 : i + 1);
    previous_.push_back(i == 0 ? end : i - 1);
  }
  Intern(KvModel());
}

Index Searcher::Intern(const KvModel& store) {
  const auto [found, is_new] = store_numbers_.try_emplace(Encoded(store), stores_.size());
  if (is_new) stores_.push_back(store);
  return found->second;
}

SearchResult Searcher::Run() {
  std::vector<Frame> path;
  const Move start{};
  path.push_back({start, highest_, Moves(start, {})});
  while (unordered_ > 0) {
    if (path.empty()) return {Verdict::kViolation, steps_, furthest_.second};
    if (steps_ >= steps_max_) return {Verdict::kUndecided, steps_, furthest_.second};
    Frame& frame = path.back();
    if (frame.next == frame.moves.size()) {
      Undo(frame);
      path.pop_back();
      continue;
    }
    const Move move = frame.moves[frame.next++];
    Frame entered{move, highest_, {}};
    Do(move);
    if (EnterFirst(move.store)) {
      entered.moves = Moves(move, frame.moves);
      path.push_back(std::move(entered));
    } else {
      Undo(entered);
    }
  }
  return {Verdict::kLinearizable, steps_, 0};
}

std::vector<Index> Searcher::Candidates() {
  std::vector<Index> candidates;
  std::pair<Time, Index> barrier{kNever, 0};
  const Index end = completed_.size();
  for (Index i = next_[end]; i != end; i = next_[i]) {
    const SearchProblem::Completed& operation = problem_.completed[completed_[i]];
    if (operation.begin > barrier.first) break;
    barrier = std::min(barrier, {operation.end, completed_[i]});
    candidates.push_back(i);
  }
  if (!candidates.empty()) furthest_ = std::max(furthest_, barrier);
  std::stable_sort(candidates.begin(), candidates.end(), [this](Index a, Index b) {
    return problem_.completed[completed_[a]].end < problem_.completed[completed_[b]].end;
  });
  return candidates;
}

// The store after the operation, or nothing if the store cannot give its reply.
std::optional<Index> Searcher::TryCompleted(Index i, Index store) {
  ++steps_;
  const SearchProblem::Completed& operation = problem_.completed[completed_[i]];
  KvModel after = stores_[store];
  if (!AreSame(after.Execute(*operation.command), *operation.reply)) return std::nullopt;
  return Intern(after);
}

std::vector<Move> Searcher::Moves(const Move& entered, const std::vector<Move>& before) {
  const std::vector<Index> candidates = Candidates();
  if (candidates.empty()) return {};
  std::vector<Move> moves;
  for (const Index i : candidates) {
    const auto after = only_observes_[i] ? TryCompleted(i, entered.store) : std::nullopt;
    if (after) return {{Kind::kCompleted, i, *after}};
  }
  for (const Index i : candidates) {
    const auto after = only_observes_[i] ? std::nullopt : TryCompleted(i, entered.store);
    if (after) moves.push_back({Kind::kCompleted, i, *after});
  }
  const Index urgent = candidates.front();
  const Time barrier = problem_.completed[completed_[urgent]].end;
  AddPendingMoves(entered, before, barrier, moves);
  if (only_observes_[urgent]) {
    // Moves that make the urgent operation's reply possible come first: this finds an order sooner.
    std::stable_partition(moves.begin(), moves.end(), [this, urgent](const Move& move) {
      return TryCompleted(urgent, move.store).has_value();
    });
  }
  return moves;
}

void Searcher::AddPendingMoves(const Move& entered, const std::vector<Move>& before, Time barrier,
                               std::vector<Move>& moves) {
  // For each operation without an answer, the store after it alone in the previous configuration.
  std::unordered_map<Index, Index> without;
  if (entered.kind == Kind::kPending) {
    for (const Move& move : before) {
      if (move.kind == Kind::kPending) without.emplace(move.index, move.store);
    }
  }
  for (Index i = 0; i < pending_.size(); ++i) {
    const SearchProblem::Pending& operation = problem_.pending[pending_[i]];
    if (operation.begin > barrier) return;
    if (used_.Has(i) || (twin_[i] && !used_.Has(*twin_[i]))) continue;
    ++steps_;
    KvModel after = stores_[entered.store];
    after.Execute(*operation.command);
    const Index number = Intern(after);
    const auto alone = without.find(i);
    const bool wastes_the_last = alone != without.end() && alone->second == number;
    if (number != entered.store && !wastes_the_last) moves.push_back({Kind::kPending, i, number});
  }
}

void Searcher::Do(const Move& move) {
  if (move.kind == Kind::kCompleted) {
    next_[previous_[move.index]] = next_[move.index];
    previous_[next_[move.index]] = previous_[move.index];
    ordered_.Insert(move.index);
    --unordered_;
    highest_ = std::max(highest_, move.index);
  } else if (move.kind == Kind::kPending) {
    used_.Insert(move.index);
  }
}

void Searcher::Undo(const Frame& frame) {
  const Move& move = frame.entered;
  highest_ = frame.highest;
  if (move.kind == Kind::kCompleted) {
    next_[previous_[move.index]] = move.index;
    previous_[next_[move.index]] = move.index;
    ordered_.Erase(move.index);
    ++unordered_;
  } else if (move.kind == Kind::kPending) {
    used_.Erase(move.index);
  }
}

// Returns whether the present configuration must be entered, and remembers it if so.
bool Searcher::EnterFirst(Index store) {
  // All operations below `first` are ordered and none above `highest_` is: the words in between
  // identify the ordered set.
  const Index first = next_[completed_.size()];
  std::string key = std::to_string(store) + "," + std::to_string(first) + ",";
  key += ordered_.Range(first, highest_);
  std::vector<Bits>& before = entered_[key];
  for (const Bits& used : before) {
    ++steps_;
    if (used.IsSubsetOf(used_)) return false;
  }
  before.push_back(used_);
  return true;
}

}  // namespace

SearchResult Search(const SearchProblem& problem, std::uint64_t steps_max) {
  return Searcher(problem, steps_max).Run();
}

}  // namespace depfast::kv
