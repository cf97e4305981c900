#include "linearizability/linearizability.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "linearizability/replies.h"
#include "linearizability/search.h"
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

// At most `width` characters; the last three are dots if some are missing.
std::string Shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  std::string shortened = text.substr(0, width - 3);
  return shortened += "...";
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

// In milliseconds, with three decimals.
std::string Milliseconds(Time when) {
  std::string fraction = std::to_string(when % 1ms / 1us);
  fraction.insert(0, 3 - fraction.size(), '0');
  return std::to_string(when / 1ms) + "." + fraction;
}

class ObjectCheck {
 public:
  ObjectCheck(const KvHistory& history, const Object& object, std::uint64_t steps_max)
      : history_(history), object_(object), steps_max_(steps_max) {
    for (const Index i : object.operations) {
      const KvOperation& operation = history[i];
      const Verb verb = operation.command.verb();
      is_register_ = is_register_ && (verb == Verb::kGet || verb == Verb::kSet);
      if (operation.answer) seen_.insert(operation.answer->reply.text);
    }
  }

  LinearizabilityResult Run() {
    result_.keys = object_.keys;
    const SearchResult search = SearchUntil(kNever);
    if (search.verdict == Verdict::kLinearizable) return std::move(result_);
    result_.marked = completed_[search.stuck];
    // The part up to the marked reply may be much cheaper to decide.
    const bool is_first =
        SearchUntil(history_[result_.marked].answer->at).verdict == Verdict::kViolation;
    if (is_first || search.verdict == Verdict::kViolation) {
      Explain(is_first);
    } else {
      result_.verdict = Verdict::kUndecided;
      result_.marked = 0;
      result_.explanation = NameOf(object_) + ": the search for an order of " +
                            Count(object_.operations.size(), "operation") +
                            " stopped at its bound of " + Count(steps_max_, "step") +
                            ": it is not known whether there is one\n";
    }
    return std::move(result_);
  }

 private:
  // Searches the history up to `until`: what has not ended by then has no answer yet.
  SearchResult SearchUntil(Time until) {
    SearchProblem problem;
    completed_.clear();
    for (const Index i : object_.operations) {
      const KvOperation& operation = history_[i];
      const bool has_ended = operation.answer && operation.answer->at <= until;
      if (operation.begin > until || (!has_ended && operation.command.IsRead())) continue;
      if (!operation.answer && IsUnseen(operation.command)) continue;
      problem.Add(operation, has_ended);
      if (has_ended) completed_.push_back(i);
    }
    const SearchResult found = Search(problem, steps_max_);
    result_.steps += found.steps;
    return found;
  }

  // Without SETs whose value no GET has returned the others have an order, if they have one with
  // them.
  bool IsUnseen(const ParsedCommand& set) const {
    return is_register_ && !seen_.contains(set.arguments()[1]);
  }

  // The latest operations that began before the end of the marked one, by begin.
  std::vector<Index> Window() const {
    std::vector<Index> window;
    for (const Index i : object_.operations) {
      if (history_[i].begin <= history_[result_.marked].answer->at) window.push_back(i);
    }
    std::stable_sort(window.begin(), window.end(),
                     [this](Index a, Index b) { return history_[a].begin < history_[b].begin; });
    auto first = std::find(window.begin(), window.end(), result_.marked);
    while (first != window.begin() && window.end() - first < kWindowMax) --first;
    return {first, window.end()};
  }

  void Explain(bool is_first) {
    result_.verdict = Verdict::kViolation;
    result_.window = Window();
    result_.explanation = NameOf(object_) + ": no order of these operations explains the replies\n";
    if (is_first) {
      result_.explanation += "  the replies before the marked one can be explained\n";
    }
    const std::size_t others = object_.operations.size() - result_.window.size();
    if (others > 0) result_.explanation += "  left out: " + Count(others, "operation") + "\n";
    for (const Index i : result_.window) result_.explanation += LineOf(i);
  }

  std::string LineOf(Index i) const {
    constexpr std::size_t kWidthMax = 40;
    const KvOperation& operation = history_[i];
    std::string line = "  " + Milliseconds(operation.begin) + " to ";
    line += operation.answer ? Milliseconds(operation.answer->at) + " ms" : "ever";
    line += ", client " + std::to_string(operation.client) + ": " +
            Shortened(operation.command.Text(), kWidthMax) + " -> ";
    line += operation.answer ? Shortened(ToText(operation.answer->reply), kWidthMax) : "no answer";
    return line + (i == result_.marked ? "  <--\n" : "\n");
  }

  static constexpr std::ptrdiff_t kWindowMax = 20;

  const KvHistory& history_;
  const Object& object_;
  const std::uint64_t steps_max_;
  bool is_register_ = true;       // all commands are GET and SET
  std::set<std::string> seen_;    // texts of the replies
  std::vector<Index> completed_;  // of the latest search, as indices into the history
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
