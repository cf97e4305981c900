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

enum class Loose { kAll, kWhatWasNotOverwritten };

// The part of a history that is known at the end of one of its operations.
class Prefix {
 public:
  Prefix(const KvHistory& history, const std::vector<Index>& operations, Index last);

  // The last one, then the others, the most recent first.
  const std::vector<Index>& operations() const { return operations_; }
  // The first `count` of them.
  std::vector<Index> Recent(std::size_t count) const;

  // With `kept` as they are, and the others loose, if they touch the same keys.
  SearchProblem WithOthersLoose(const std::vector<Index>& kept, Loose loose) const;
  // By key: of the operations that certainly wrote it before any of `kept` that has ended began,
  // the one that began last. What ended before that has no effect on `kept`.
  std::map<std::string, Index> LastOverwrites(const std::vector<Index>& kept) const;

 private:
  // Whether it had ended: then its reply is known.
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

// What may still happen, and do what nobody knows, would explain everything if it were loose. So it
// counts as most recent.
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
  if (loose == Loose::kWhatWasNotOverwritten) last_overwrites = LastOverwrites(kept);
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
  bool LetPiecesLoose(const Prefix& prefix, std::size_t piece, Loose loose);
  void LetLooseWhatCanBe();

  const KvHistory& history_;
  const std::vector<Index>& operations_;
  const std::uint64_t steps_max_;
  std::uint64_t steps_ = 0;
  std::optional<Window> window_;
};

// Those with an answer.
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

// An attempt may take an eighth of the steps that are left, so that none takes them all.
Verdict Finder::Decide(const Prefix& prefix, const std::vector<Index>& kept, Loose loose) {
  const std::uint64_t steps = (steps_max_ - steps_) / 8;
  if (steps == 0) return Verdict::kUndecided;
  const SearchResult result = Search(prefix.WithOthersLoose(kept, loose), steps);
  steps_ = std::min(steps_max_, steps_ + result.steps);
  return result.verdict;
}

// With the last operation kept, the last 2, the last 4, until they cannot be explained, or all are
// kept. Only the latter can be found linearizable.
Verdict Finder::DecideRecent(const Prefix& prefix, std::vector<Index>& kept) {
  const Loose loose = Loose::kWhatWasNotOverwritten;
  for (std::size_t count = 1; count < prefix.operations().size(); count *= 2) {
    kept = prefix.Recent(count);
    if (Decide(prefix, kept, loose) == Verdict::kViolation) return Verdict::kViolation;
  }
  kept = prefix.operations();
  return Decide(prefix, kept, loose);
}

// From `stuck` on, in growing steps, and back by halves: usually it is `stuck` itself. It is a
// later one if what made the search stick was a reply to an operation that had not ended yet.
void Finder::FindFirst(Index stuck) {
  const std::vector<Index> by_end = ByEnd();
  const auto at = std::find(by_end.begin(), by_end.end(), stuck);
  // At the ends before `good` no violation was found; at that of `bad` there is one, if it is not
  // the end of the list.
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

// The oldest first. Whether one piece could be let loose.
bool Finder::LetPiecesLoose(const Prefix& prefix, std::size_t piece, Loose loose) {
  std::vector<Index>& kept = window_->operations;
  const std::size_t before = kept.size();
  window_->is_smallest = true;                     // the last pass decides
  for (std::size_t end = kept.size(); end > 1;) {  // the first is `marked`, and stays
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

void Finder::LetLooseWhatCanBe() {
  const Prefix prefix(history_, operations_, window_->marked);
  std::vector<Index>& kept = window_->operations;
  for (std::size_t piece = kept.size() / 2; piece > 1; piece /= 2) {
    LetPiecesLoose(prefix, piece, Loose::kWhatWasNotOverwritten);
  }
  // Again and again: the later the first of them begins, the more was overwritten before it.
  while (LetPiecesLoose(prefix, 1, Loose::kWhatWasNotOverwritten)) {
  }
  // With what overwrote the rest they are a violation even if all others are loose; and then they
  // can be understood without the others.
  const std::set<Index> is_kept(kept.begin(), kept.end());
  std::set<Index> overwrites;
  for (const auto& [key, i] : prefix.LastOverwrites(kept)) overwrites.insert(i);
  std::set_difference(overwrites.begin(), overwrites.end(), is_kept.begin(), is_kept.end(),
                      std::back_inserter(kept));
  // One pass is enough: what cannot be let loose while more is kept, cannot be later.
  LetPiecesLoose(prefix, 1, Loose::kAll);
}

WindowResult Finder::Run(Index stuck) {
  FindFirst(stuck);
  if (!window_) return {std::nullopt, steps_};
  LetLooseWhatCanBe();
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
