#include "linearizability/zones.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "linearizability/picture.h"
#include "testkit/json.h"

namespace depfast::kv {
namespace {

using Index = std::size_t;

bool IsWrite(const KvOperation& operation) { return operation.command.verb() == Verb::kSet; }

Time EndOf(const KvOperation& operation) {
  return operation.answer ? operation.answer->at : kNever;
}

// The value that an operation wrote or read; null means nil.
const std::string* ValueOf(const KvOperation& operation) {
  if (IsWrite(operation)) return &operation.command.arguments()[1];
  const Reply& reply = operation.answer->reply;
  return reply.kind == Reply::Kind::kNil ? nullptr : &reply.text;
}

bool IsOfARegister(const KvOperation& operation) {
  if (IsWrite(operation)) return !operation.answer || operation.answer->reply == Reply::Ok();
  return operation.command.verb() == Verb::kGet && operation.answer &&
         (operation.answer->reply.kind == Reply::Kind::kString ||
          operation.answer->reply.kind == Reply::Kind::kNil);
}

// A begin or an end of an operation. No operation: the key's absence at the start.
struct Moment {
  Time when{0};
  std::optional<Index> operation;
};

struct Cluster {
  std::optional<Index> write;  // nothing for the cluster of nil
  std::vector<Index> reads;
  Moment first_end;
  Moment last_begin;

  bool IsForward() const { return first_end.when < last_begin.when; }
};

// For two clusters in a cycle: nil is older. Otherwise the cluster with the later last begin is
// older. In both cases that last operation is a read, and the key held the other value before it.
bool IsOlder(const Cluster& a, const Cluster& b) {
  if (!a.write || !b.write) return !a.write;
  return a.last_begin.when >= b.last_begin.when;
}

struct Conflict {
  std::vector<Index> operations;  // may contain an operation twice
  Index marked = 0;
  std::string why;
};

// Orders operations by their end, so that the first of several conflicts is reported.
bool IsEarlier(const KvHistory& history, Index a, Index b) {
  return std::pair(EndOf(history[a]), a) < std::pair(EndOf(history[b]), b);
}

class Checker {
 public:
  explicit Checker(const KvHistory& history) : history_(history) {}

  std::uint64_t steps() const { return steps_; }

  // Returns false if a value was written twice.
  bool MakeClusters(const std::vector<Index>& operations);
  std::optional<Conflict> FindConflict();

 private:
  bool FinishCluster(std::vector<Index> of_one_value);
  void Measure(Cluster& cluster);

  std::optional<Conflict> FindBadRead();
  std::optional<Conflict> FindCycle();
  Conflict CycleOf(const Cluster& a, const Cluster& b);
  Conflict ConflictOf(const Cluster& old_value, const Cluster& new_value) const;
  const char* Verb(Index i) const { return IsWrite(history_[i]) ? "written" : "read"; }
  std::string Value(Index i) const;

  const KvHistory& history_;
  std::uint64_t steps_ = 0;
  std::vector<Cluster> clusters_;
  std::vector<Index> from_nowhere_;  // reads of values that were never written
};

bool Checker::MakeClusters(const std::vector<Index>& operations) {
  const auto compare = [this](Index a, Index b) {
    ++steps_;
    const std::string* x = ValueOf(history_[a]);
    const std::string* y = ValueOf(history_[b]);
    if (x == nullptr || y == nullptr) return x == nullptr && y != nullptr;  // nil first
    return *x < *y;
  };
  std::vector<Index> by_value = operations;
  std::stable_sort(by_value.begin(), by_value.end(), compare);
  for (Index from = 0; from < by_value.size();) {
    Index to = from + 1;
    while (to < by_value.size() && !compare(by_value[from], by_value[to])) ++to;
    const auto first = by_value.begin();
    if (!FinishCluster(
            {first + static_cast<std::ptrdiff_t>(from), first + static_cast<std::ptrdiff_t>(to)})) {
      return false;
    }
    from = to;
  }
  return true;
}

bool Checker::FinishCluster(std::vector<Index> of_one_value) {
  Cluster cluster;
  for (const Index i : of_one_value) {
    ++steps_;
    if (!IsWrite(history_[i])) {
      cluster.reads.push_back(i);
    } else if (cluster.write) {
      return false;
    } else {
      cluster.write = i;
    }
  }
  const bool is_nil = ValueOf(history_[of_one_value.front()]) == nullptr;
  if (!cluster.write && !is_nil) {
    from_nowhere_.insert(from_nowhere_.end(), cluster.reads.begin(), cluster.reads.end());
    return true;
  }
  const bool need_not_have_happened =
      !is_nil && cluster.reads.empty() && !history_[*cluster.write].answer;
  if (need_not_have_happened) return true;
  Measure(cluster);
  clusters_.push_back(std::move(cluster));
  return true;
}

// The write's moment counts if others equal it.
void Checker::Measure(Cluster& cluster) {
  cluster.first_end = {Time::min(), std::nullopt};
  cluster.last_begin = {Time::min(), std::nullopt};
  if (cluster.write) {
    cluster.first_end = {EndOf(history_[*cluster.write]), cluster.write};
    cluster.last_begin = {history_[*cluster.write].begin, cluster.write};
  }
  for (const Index i : cluster.reads) {
    ++steps_;
    const Time end = EndOf(history_[i]);
    if (end < cluster.first_end.when) cluster.first_end = {end, i};
    if (history_[i].begin > cluster.last_begin.when) cluster.last_begin = {history_[i].begin, i};
  }
}

std::optional<Conflict> Checker::FindConflict() {
  std::optional<Conflict> bad_read = FindBadRead();
  return bad_read ? bad_read : FindCycle();
}

std::string Checker::Value(Index i) const {
  const std::string* value = ValueOf(history_[i]);
  constexpr std::size_t kWidthMax = 40;
  return value == nullptr ? "nil" : Shortened(testkit::JsonString(*value), kWidthMax);
}

std::optional<Conflict> Checker::FindBadRead() {
  std::optional<Conflict> first;
  const auto keep_earlier = [this, &first](Conflict conflict) {
    if (!first || IsEarlier(history_, conflict.marked, first->marked)) first = std::move(conflict);
  };
  for (const Index i : from_nowhere_) {
    ++steps_;
    keep_earlier({{i}, i, "value from nowhere: no command wrote " + Value(i)});
  }
  for (const Cluster& cluster : clusters_) {
    for (const Index i : cluster.reads) {
      ++steps_;
      if (!cluster.write || EndOf(history_[i]) >= history_[*cluster.write].begin) continue;
      keep_earlier({{*cluster.write, i},
                    i,
                    "read before it was written: the marked read of " + Value(i) +
                        " ended before the SET began"});
    }
  }
  return first;
}

std::optional<Conflict> Checker::FindCycle() {
  std::vector<const Cluster*> forward;
  for (const Cluster& cluster : clusters_) {
    if (cluster.IsForward()) forward.push_back(&cluster);
  }
  const auto ends_first = [this](const Cluster* a, const Cluster* b) {
    ++steps_;
    return a->first_end.when < b->first_end.when;
  };
  std::stable_sort(forward.begin(), forward.end(), ends_first);
  for (Index i = 1; i < forward.size(); ++i) {
    ++steps_;
    if (forward[i]->first_end.when < forward[i - 1]->last_begin.when) {
      return CycleOf(*forward[i - 1], *forward[i]);
    }
  }
  for (const Cluster& cluster : clusters_) {
    if (cluster.IsForward()) continue;
    // Forward zones do not overlap, so only the last one that starts before this zone can contain
    // it.
    const auto after = std::partition_point(
        forward.begin(), forward.end(), [this, &cluster](const Cluster* candidate) {
          ++steps_;
          return candidate->first_end.when < cluster.last_begin.when;
        });
    if (after == forward.begin()) continue;
    const Cluster& around = **(after - 1);
    if (cluster.first_end.when < around.last_begin.when) return CycleOf(around, cluster);
  }
  return std::nullopt;
}

// Each of the two clusters must come before the other. Of all clusters in such a cycle with the
// older one, the latest explains most.
Conflict Checker::CycleOf(const Cluster& a, const Cluster& b) {
  const Cluster& old_value = IsOlder(a, b) ? a : b;
  const Cluster* new_value = IsOlder(a, b) ? &b : &a;
  for (const Cluster& other : clusters_) {
    ++steps_;
    const bool is_cycle = other.first_end.when < old_value.last_begin.when &&
                          old_value.first_end.when < other.last_begin.when;
    if (&other == &old_value || !is_cycle || !IsOlder(old_value, other)) continue;
    if (new_value->first_end.when < other.first_end.when) new_value = &other;
  }
  return ConflictOf(old_value, *new_value);
}

Conflict Checker::ConflictOf(const Cluster& old_value, const Cluster& new_value) const {
  const Index marked = *old_value.last_begin.operation;
  const Index new_end = *new_value.first_end.operation;
  const Index new_begin = *new_value.last_begin.operation;
  Conflict conflict{{marked, *new_value.write, new_end, new_begin}, marked, ""};
  if (old_value.write) conflict.operations.push_back(*old_value.write);

  const std::string new_name = Value(new_end);
  conflict.why = new_value.reads.empty() ? "lost write: " : "stale read: ";
  conflict.why +=
      new_name + " was " + Verb(new_end) + " before the marked read of " + Value(marked) + " began";
  if (const auto old_end = old_value.first_end.operation) {
    conflict.operations.push_back(*old_end);
    conflict.why += ",\n  and " + Value(marked) + " was " + Verb(*old_end) + " before " + new_name +
                    " was " + Verb(new_begin);
  }
  return conflict;
}

// The conflict among `operations` alone, if any.
std::optional<Conflict> ConflictAmong(const KvHistory& history,
                                      const std::vector<Index>& operations) {
  Checker checker(history);
  const bool unique = checker.MakeClusters(operations);
  assert(unique && "a part of a history whose values are unique");
  return unique ? checker.FindConflict() : std::nullopt;
}

std::vector<Index> Distinct(std::vector<Index> indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

// The same conflict with as few reads as possible. A read proves only its own reply, so leaving it
// out keeps the proof valid. SETs stay, so that every value that is read is written.
Conflict WithFewestReads(const KvHistory& history, const Conflict& conflict) {
  std::vector<Index> kept = Distinct(conflict.operations);
  std::optional<Conflict> best = ConflictAmong(history, kept);
  assert(best && "the operations of a conflict are one");
  for (const Index i : std::vector<Index>(kept)) {
    if (IsWrite(history[i]) || kept.size() == 1) continue;
    std::vector<Index> fewer = kept;
    fewer.erase(std::find(fewer.begin(), fewer.end(), i));
    if (const auto still = ConflictAmong(history, fewer)) {
      kept = fewer;
      best = still;
    }
  }
  best->operations = kept;
  return *best;
}

}  // namespace

ZoneResult CheckZones(const KvHistory& history, const std::vector<Index>& operations) {
  ZoneResult result;
  for (const Index i : operations) {
    ++result.steps;
    if (!IsOfARegister(history[i])) return result;
  }
  Checker checker(history);
  result.applies = checker.MakeClusters(operations);
  std::optional<Conflict> conflict;
  if (result.applies) conflict = checker.FindConflict();
  result.steps += checker.steps();
  if (!conflict) return result;
  conflict = WithFewestReads(history, *conflict);
  result.linearizable = false;
  result.window = conflict->operations;
  std::stable_sort(result.window.begin(), result.window.end(),
                   [&history](Index a, Index b) { return history[a].begin < history[b].begin; });
  result.marked = conflict->marked;
  result.why = conflict->why;
  return result;
}

}  // namespace depfast::kv
