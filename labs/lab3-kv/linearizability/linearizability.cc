#include "linearizability/linearizability.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "linearizability/picture.h"
#include "linearizability/search.h"
#include "linearizability/shrink.h"
#include "linearizability/zones.h"
#include "testkit/json.h"

namespace depfast::kv {
namespace {

using Index = std::size_t;

struct Object {
  std::vector<std::string> keys;  // in order
  std::vector<Index> operations;  // indices into the history, in its order
};

void RequireWellFormed(const KvHistory& history) {
  for (Index i = 0; i < history.size(); ++i) {
    const KvOperation& operation = history[i];
    if (!operation.answer) continue;
    const Time end = operation.answer->at;
    if (operation.begin <= end && end < kNever) continue;
    throw std::invalid_argument("operation " + std::to_string(i) + " of the history (" +
                                operation.command.Text() + ") has an answer that is " +
                                (end < operation.begin ? "before its begin" : "never"));
  }
}

// Splits a history into objects: keys merged by commands with several keys, and the operations on
// them. A read without an answer proves nothing, so it belongs to no object.
class Partition {
 public:
  explicit Partition(const KvHistory& history) {
    for (Index i = 0; i < history.size(); ++i) Add(history[i], i);
  }

  // By smallest key.
  std::vector<Object> Objects() {
    std::map<Index, Object> by_root;
    for (const auto& [key, node] : nodes_) by_root[RootOf(node)].keys.push_back(key);
    for (const auto& [operation, node] : operations_) {
      by_root[RootOf(node)].operations.push_back(operation);
    }
    std::vector<Object> objects;
    for (auto& [root, object] : by_root) objects.push_back(std::move(object));
    std::sort(objects.begin(), objects.end(),
              [](const Object& a, const Object& b) { return a.keys.front() < b.keys.front(); });
    return objects;
  }

 private:
  void Add(const KvOperation& operation, Index i) {
    if (operation.command.IsRead() && !operation.answer) return;
    const std::vector<std::string> keys = operation.command.Keys();
    const Index first = NodeOf(keys.front());
    for (const std::string& key : keys) parent_[RootOf(NodeOf(key))] = RootOf(first);
    operations_.emplace_back(i, first);
  }

  Index NodeOf(const std::string& key) {
    const auto [found, is_new] = nodes_.try_emplace(key, parent_.size());
    if (is_new) parent_.push_back(found->second);
    return found->second;
  }

  Index RootOf(Index node) {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }

  std::map<std::string, Index> nodes_;
  std::vector<Index> parent_;
  std::vector<std::pair<Index, Index>> operations_;  // each with the node of one of its keys
};

std::string Count(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string NameOf(const Object& object) {
  constexpr std::size_t kKeysMax = 8;
  constexpr std::size_t kWidthMax = 40;
  std::string name = object.keys.size() == 1 ? "key" : "keys";
  for (Index i = 0; i < std::min(object.keys.size(), kKeysMax); ++i) {
    name += (i == 0 ? " " : ", ") + Shortened(testkit::JsonString(object.keys[i]), kWidthMax);
  }
  if (object.keys.size() > kKeysMax) {
    name += " and " + std::to_string(object.keys.size() - kKeysMax) + " more";
  }
  return name;
}

class ObjectCheck {
 public:
  ObjectCheck(const KvHistory& history, const Object& object, std::uint64_t steps_max)
      : history_(history), object_(object), steps_max_(steps_max) {}

  LinearizabilityResult Run() {
    result_.keys = object_.keys;
    if (object_.keys.size() > 1 || !DecideByZones()) DecideBySearch();
    return std::move(result_);
  }

 private:
  // Returns false if zones do not apply.
  bool DecideByZones() {
    const ZoneResult zones = CheckZones(history_, object_.operations);
    result_.steps += zones.steps;
    if (!zones.applies) return false;
    if (!zones.linearizable) {
      result_.window = zones.window;
      result_.marked = zones.marked;
      Explain("  " + zones.why + "\n", kNever);
    }
    return true;
  }

  void DecideBySearch() {
    const SearchResult search = Search(Problem(), steps_max_);
    result_.steps += search.steps;
    if (search.verdict == Verdict::kLinearizable) return;
    const Index stuck = completed_[search.stuck];
    const WindowResult found = FindWindow(history_, object_.operations, stuck, steps_max_);
    result_.steps += found.steps;
    if (found.window) {
      ExplainWindow(*found.window, history_[found.window->marked].answer->at);
    } else if (search.verdict == Verdict::kViolation) {
      ExplainWindow({ByBegin(object_.operations), stuck, false, false}, kNever);
    } else {
      result_.verdict = Verdict::kUndecided;
      result_.explanation = NameOf(object_) + ": the search for an order of " +
                            Count(object_.operations.size(), "operation") +
                            " stopped at its bound of " + Count(steps_max_, "step") +
                            ": it is not known whether there is one\n";
    }
  }

  SearchProblem Problem() {
    SearchProblem problem;
    for (const Index i : object_.operations) {
      problem.Add(history_[i]);
      if (history_[i].answer) completed_.push_back(i);
    }
    return problem;
  }

  std::vector<Index> ByBegin(std::vector<Index> operations) const {
    std::stable_sort(operations.begin(), operations.end(),
                     [this](Index a, Index b) { return history_[a].begin < history_[b].begin; });
    return operations;
  }

  void ExplainWindow(const Window& window, Time until) {
    result_.window = window.operations;
    result_.marked = window.marked;
    std::string why;
    if (window.is_first) {
      why += "  all replies before the marked one can be explained; with it, they cannot\n";
    }
    if (!window.is_smallest) {
      why += "  fewer operations might show it, too: the search for them stopped at its bound\n";
    }
    Explain(why, until);
  }

  void Explain(const std::string& why, Time until) {
    result_.verdict = Verdict::kViolation;
    result_.explanation = NameOf(object_) +
                          ": no order of these operations explains the replies\n" + why +
                          DrawOperations(history_, result_.window, result_.marked, until);
    const std::size_t others = object_.operations.size() - result_.window.size();
    if (others > 0) {
      result_.explanation += "  left out: " + Count(others, "operation") +
                             " that cannot explain it, whenever " + (others == 1 ? "it" : "they") +
                             " took effect\n";
    }
  }

  const KvHistory& history_;
  const Object& object_;
  const std::uint64_t steps_max_;
  std::vector<Index> completed_;  // the search problem's operations, as indices into the history
  LinearizabilityResult result_;
};

}  // namespace

LinearizabilityResult CheckLinearizability(const KvHistory& history, std::uint64_t steps_max) {
  RequireWellFormed(history);
  LinearizabilityResult result;
  for (const Object& object : Partition(history).Objects()) {
    LinearizabilityResult of_object = ObjectCheck(history, object, steps_max).Run();
    const std::uint64_t steps = result.steps + of_object.steps;
    const bool first_to_tell =
        of_object.verdict == Verdict::kViolation ||
        (of_object.verdict == Verdict::kUndecided && result.verdict == Verdict::kLinearizable);
    if (first_to_tell) result = std::move(of_object);
    result.steps = steps;
    if (result.verdict == Verdict::kViolation) break;
  }
  return result;
}

}  // namespace depfast::kv
