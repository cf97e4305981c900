#include "linearizability/shrink.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "linearizability/search.h"

namespace depfast::kv {
namespace {

using Index = std::size_t;

enum class Loose { kAll, kNotOverwritten };

// The part of a history that is known at the end of one of its operations.
class Prefix {
 public:
  Prefix(const KvHistory& history, const std::vector<Index>& operations, Index last);

  // The last operation, then the others, the most recent first.
  const std::vector<Index>& operations() const { return operations_; }
  // The first `count` of operations().
  std::vector<Index> Recent(std::size_t count) const;

  // The problem of `kept`, with the other operations on the same keys loose.
  SearchProblem WithOthersLoose(const std::vector<Index>& kept, Loose loose) const;
  // By key: the last overwrite before `kept`. Candidates are operations that certainly wrote the
  // key before any ended operation of `kept` began; the one that began last is returned. Operations
  // that ended before its begin have no effect on `kept`.
  std::map<std::string, Index> LastOverwrites(const std::vector<Index>& kept) const;

 private:
  // Whether the operation had ended: then its reply is known.
  bool HasEnded(Index i) const;
  Time LatestMoment(Index i) const;

  const KvHistory& history_;
  const Index last_;
  std::vector<Index> operations_;
};

Prefix::Prefix(const KvHistory& history, const std::vector<Index>& operations, Index last)
    : history_(history), last_(last) {
  for (const Index i : operations) {
    if (i == last || history[i].begin > history[last].answer->at) continue;
    if (HasEnded(i) || !history[i].command.IsRead()) operations_.push_back(i);
  }
  std::sort(operations_.begin(), operations_.end(), [this](Index a, Index b) {
    return std::pair(LatestMoment(a), a) > std::pair(LatestMoment(b), b);
  });
  operations_.insert(operations_.begin(), last);
}

// A loose operation with an unknown effect that may still happen would explain any reply. So such
// an operation counts as most recent.
Time Prefix::LatestMoment(Index i) const {
  const KvOperation& operation = history_[i];
  if (HasEnded(i)) return operation.answer->at;
  for (const Effect& effect : EffectsOf(operation.command, nullptr)) {
    if (!effect.content.known) return kNever;
  }
  return operation.begin;
}

std::vector<Index> Prefix::Recent(std::size_t count) const {
  return {operations_.begin(), operations_.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool Prefix::HasEnded(Index i) const {
  const std::optional<KvAnswer>& answer = history_[i].answer;
  return answer && std::pair(answer->at, i) <= std::pair(history_[last_].answer->at, last_);
}

std::map<std::string, Index> Prefix::LastOverwrites(const std::vector<Index>& kept) const {
  Time first_begin = kNever;
  for (const Index i : kept) {
    if (HasEnded(i)) first_begin = std::min(first_begin, history_[i].begin);
  }
  std::map<std::string, Index> last;
  for (const Index i : operations_) {
    const KvOperation& operation = history_[i];
    if (!HasEnded(i) || operation.answer->at >= first_begin) continue;
    for (const Effect& effect : EffectsOf(operation.command, &operation.answer->reply)) {
      if (!effect.content.known) continue;
      Index& best = last.try_emplace(effect.key, i).first->second;
      if (history_[best].begin < operation.begin) best = i;
    }
  }
  return last;
}

SearchProblem Prefix::WithOthersLoose(const std::vector<Index>& kept, Loose loose) const {
  const std::set<Index> is_kept(kept.begin(), kept.end());
  std::set<std::string> keys;
  for (const Index i : kept) {
    for (std::string& key : history_[i].command.Keys()) keys.insert(std::move(key));
  }
  std::map<std::string, Index> last_overwrites;
  if (loose == Loose::kNotOverwritten) last_overwrites = LastOverwrites(kept);
  const auto matters = [&](const Effect& effect, Time end) {
    const auto last = last_overwrites.find(effect.key);
    return keys.contains(effect.key) &&
           (last == last_overwrites.end() || end >= history_[last->second].begin);
  };
  SearchProblem problem;
  for (const Index i : operations_) {
    const KvOperation& operation = history_[i];
    const Reply* reply = HasEnded(i) ? &operation.answer->reply : nullptr;
    const Time end = HasEnded(i) ? operation.answer->at : kNever;
    if (!is_kept.contains(i)) {
      for (Effect& effect : EffectsOf(operation.command, reply)) {
        if (!matters(effect, end)) continue;
        problem.loose.push_back({operation.begin, end, std::move(effect)});
      }
    } else if (reply != nullptr) {
      problem.completed.push_back({operation.begin, end, &operation.command, reply});
    } else {
      problem.pending.push_back({operation.begin, &operation.command});
    }
  }
  return problem;
}

class Finder {
 public:
  Finder(const KvHistory& history, const std::vector<Index>& operations, std::uint64_t steps_max)
      : history_(history), operations_(operations), steps_max_(steps_max) {}

  WindowResult Run(Index stuck);

 private:
  std::vector<Index> ByEnd() const;
  Verdict Decide(const Prefix& prefix, const std::vector<Index>& kept, Loose loose);
  Verdict DecideRecent(const Prefix& prefix, std::vector<Index>& kept);
  void FindFirst(Index stuck);
  bool LoosenPieces(const Prefix& prefix, std::size_t piece, Loose loose);
  void LoosenWindow();

  const KvHistory& history_;
  const std::vector<Index>& operations_;
  const std::uint64_t steps_max_;
  std::uint64_t steps_ = 0;
  std::optional<Window> window_;
};

// The operations with an answer, by end.
std::vector<Index> Finder::ByEnd() const {
  std::vector<Index> completed;
  for (const Index i : operations_) {
    if (history_[i].answer) completed.push_back(i);
  }
  std::sort(completed.begin(), completed.end(), [this](Index a, Index b) {
    return std::pair(history_[a].answer->at, a) < std::pair(history_[b].answer->at, b);
  });
  return completed;
}

// An attempt may take an eighth of the remaining steps, so that no attempt takes them all.
Verdict Finder::Decide(const Prefix& prefix, const std::vector<Index>& kept, Loose loose) {
  const std::uint64_t steps = (steps_max_ - steps_) / 8;
  if (steps == 0) return Verdict::kUndecided;
  const SearchResult result = Search(prefix.WithOthersLoose(kept, loose), steps);
  steps_ = std::min(steps_max_, steps_ + result.steps);
  return result.verdict;
}

// Keeps the last operation, then the last 2, the last 4 and so on, until they cannot be explained
// or all are kept. Only with all kept can the verdict be kLinearizable.
Verdict Finder::DecideRecent(const Prefix& prefix, std::vector<Index>& kept) {
  const Loose loose = Loose::kNotOverwritten;
  for (std::size_t count = 1; count < prefix.operations().size(); count *= 2) {
    kept = prefix.Recent(count);
    if (Decide(prefix, kept, loose) == Verdict::kViolation) return Verdict::kViolation;
  }
  kept = prefix.operations();
  return Decide(prefix, kept, loose);
}

// Looks from `stuck` onwards in growing steps, and back by halves. The first operation is usually
// `stuck` itself. It is a later one if the search was stuck because of the reply to an operation
// that had not ended yet.
void Finder::FindFirst(Index stuck) {
  const std::vector<Index> by_end = ByEnd();
  const auto at = std::find(by_end.begin(), by_end.end(), stuck);
  // No violation was found at the ends before `good`. There is one at the end of `bad`, unless
  // `bad` is the end of the list.
  auto good = static_cast<std::size_t>(at - by_end.begin());
  std::size_t bad = by_end.size();
  bool all_decided = true;
  for (std::size_t step = 1; good < bad; step *= 2) {
    const std::size_t middle = good + std::min(step - 1, (bad - good) / 2);
    const Prefix prefix(history_, operations_, by_end[middle]);
    std::vector<Index> kept;
    const Verdict verdict = DecideRecent(prefix, kept);
    if (verdict == Verdict::kViolation) {
      bad = middle;
      window_ = Window{std::move(kept), by_end[middle], true, true};
    } else {
      good = middle + 1;
      all_decided = all_decided && verdict == Verdict::kLinearizable;
    }
  }
  if (window_) window_->is_first = all_decided;
}

// Tries the oldest pieces first. Returns whether a piece could be made loose.
bool Finder::LoosenPieces(const Prefix& prefix, std::size_t piece, Loose loose) {
  std::vector<Index>& kept = window_->operations;
  const std::size_t before = kept.size();
  window_->is_smallest = true;                     // the last pass decides
  for (std::size_t end = kept.size(); end > 1;) {  // the first is `marked`, which stays
    const std::size_t from = end - std::min(end - 1, piece);
    std::vector<Index> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(from),
                fewer.begin() + static_cast<std::ptrdiff_t>(end));
    const Verdict verdict = Decide(prefix, fewer, loose);
    if (verdict == Verdict::kViolation) kept = std::move(fewer);
    if (verdict == Verdict::kUndecided) window_->is_smallest = false;
    end = from;
  }
  return kept.size() < before;
}

void Finder::LoosenWindow() {
  const Prefix prefix(history_, operations_, window_->marked);
  std::vector<Index>& kept = window_->operations;
  for (std::size_t piece = kept.size() / 2; piece > 1; piece /= 2) {
    LoosenPieces(prefix, piece, Loose::kNotOverwritten);
  }
  // Repeated, because a later first begin means that more effects were overwritten before it.
  while (LoosenPieces(prefix, 1, Loose::kNotOverwritten)) {
  }
  // Together with the overwriting operations, the kept ones are a violation even if all others are
  // loose. Then the kept operations can be understood alone.
  const std::set<Index> is_kept(kept.begin(), kept.end());
  std::set<Index> overwrites;
  for (const auto& [key, i] : prefix.LastOverwrites(kept)) overwrites.insert(i);
  std::set_difference(overwrites.begin(), overwrites.end(), is_kept.begin(), is_kept.end(),
                      std::back_inserter(kept));
  // One pass is enough: an operation that cannot be loose while more are kept cannot be loose
  // later.
  LoosenPieces(prefix, 1, Loose::kAll);
}

WindowResult Finder::Run(Index stuck) {
  FindFirst(stuck);
  if (!window_) return {std::nullopt, steps_};
  LoosenWindow();
  std::vector<Index>& kept = window_->operations;
  std::sort(kept.begin(), kept.end(), [this](Index a, Index b) {
    return std::pair(history_[a].begin, a) < std::pair(history_[b].begin, b);
  });
  return {std::move(window_), steps_};
}

}  // namespace

WindowResult FindWindow(const KvHistory& history, const std::vector<Index>& operations, Index stuck,
                        std::uint64_t steps_max) {
  return Finder(history, operations, steps_max).Run(stuck);
}

}  // namespace depfast::kv
