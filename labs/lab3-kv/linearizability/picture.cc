#include "linearizability/picture.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "linearizability/replies.h"

namespace depfast::kv {
namespace {

constexpr std::size_t kLinesMax = 40;
constexpr std::size_t kWordsWidthMax = 24;
constexpr std::size_t kReplyWidthMax = 24;
constexpr std::size_t kTimeWidthMin = 8;

std::string Left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

std::string Right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

// In milliseconds, with three decimals, or with six for nanoseconds.
std::string Milliseconds(Time when, bool to_the_nanosecond) {
  constexpr std::int64_t kNanosPerMilli = 1'000'000;
  const std::int64_t nanos = when.count();
  std::string fraction = std::to_string(nanos % kNanosPerMilli);
  fraction.insert(0, 6 - fraction.size(), '0');
  if (!to_the_nanosecond) fraction.resize(3);
  return std::to_string(nanos / kNanosPerMilli) + "." + fraction;
}

// At most kLinesMax operations around `marked`, most of them before it.
std::vector<std::size_t> Around(const std::vector<std::size_t>& operations, std::size_t marked) {
  constexpr std::ptrdiff_t kLinesBeforeMarked = 30;
  if (operations.size() <= kLinesMax) return operations;
  const auto at = std::find(operations.begin(), operations.end(), marked) - operations.begin();
  const auto last_from = static_cast<std::ptrdiff_t>(operations.size() - kLinesMax);
  const auto from = std::clamp<std::ptrdiff_t>(at - kLinesBeforeMarked, 0, last_from);
  return {operations.begin() + from,
          operations.begin() + from + static_cast<std::ptrdiff_t>(kLinesMax)};
}

class Picture {
 public:
  Picture(const KvHistory& history, const std::vector<std::size_t>& operations, std::size_t marked,
          Time until);

  std::string Draw() const;

 private:
  bool HasEnded(const KvOperation& operation) const {
    return operation.answer && operation.answer->at <= until_;
  }
  std::string EndOf(const KvOperation& operation) const;
  std::string ReplyOf(const KvOperation& operation) const;
  std::string BarOf(const KvOperation& operation) const;
  std::string LineOf(std::size_t i) const;
  std::string TimeOf(Time when) const { return Milliseconds(when, to_the_nanosecond_); }

  const KvHistory& history_;
  std::vector<std::size_t> operations_;  // the drawn operations
  std::size_t hidden_ = 0;
  std::size_t marked_;
  Time until_;
  bool to_the_nanosecond_ = false;
  std::map<Time, std::size_t> columns_;  // of every moment at which an operation begins or ends
  std::size_t bars_width_ = 0;
  std::size_t time_width_ = kTimeWidthMin;
  std::size_t words_width_ = 0;
  std::size_t reply_width_ = 0;
};

Picture::Picture(const KvHistory& history, const std::vector<std::size_t>& operations,
                 std::size_t marked, Time until)
    : history_(history), operations_(Around(operations, marked)), marked_(marked), until_(until) {
  hidden_ = operations.size() - operations_.size();
  bool has_open_end = false;
  for (const std::size_t i : operations_) {
    columns_[history[i].begin] = 0;
    if (HasEnded(history[i])) {
      columns_[history[i].answer->at] = 0;
    } else {
      has_open_end = true;
    }
  }
  std::size_t next = 0;
  for (auto& [when, column] : columns_) {
    column = next;
    next += 2;
    to_the_nanosecond_ = to_the_nanosecond_ || when.count() % 1000 != 0;
  }
  bars_width_ = has_open_end ? next + 1 : next - 1;
  for (const std::size_t i : operations_) {
    const KvOperation& operation = history[i];
    time_width_ = std::max({time_width_, TimeOf(operation.begin).size(), EndOf(operation).size()});
    words_width_ =
        std::max(words_width_, Shortened(operation.command.Text(), kWordsWidthMax).size());
    reply_width_ = std::max(reply_width_, ReplyOf(operation).size());
  }
}

std::string Picture::EndOf(const KvOperation& operation) const {
  if (HasEnded(operation)) return TimeOf(operation.answer->at);
  return operation.answer ? "later" : "never";
}

std::string Picture::ReplyOf(const KvOperation& operation) const {
  if (HasEnded(operation)) return Shortened(ToText(operation.answer->reply), kReplyWidthMax);
  return operation.answer ? "" : "no answer";
}

std::string Picture::BarOf(const KvOperation& operation) const {
  const std::size_t from = columns_.at(operation.begin);
  const bool has_ended = HasEnded(operation);
  const std::size_t to = has_ended ? columns_.at(operation.answer->at) : bars_width_ - 1;
  std::string bar(bars_width_, ' ');
  std::fill(bar.begin() + static_cast<std::ptrdiff_t>(from),
            bar.begin() + static_cast<std::ptrdiff_t>(to), '-');
  bar[from] = '|';
  bar[to] = has_ended ? '|' : '>';
  return bar;
}

std::string Picture::LineOf(std::size_t i) const {
  const KvOperation& operation = history_[i];
  const std::string reply = ReplyOf(operation);
  std::string line = "  " + Right(TimeOf(operation.begin), time_width_) + " " +
                     Right(EndOf(operation), time_width_) + " " +
                     Right(std::to_string(operation.client), 7) + "  " +
                     Left(Shortened(operation.command.Text(), kWordsWidthMax), words_width_) +
                     "  " + BarOf(operation);
  if (i == marked_) return line + "  " + Left(reply, reply_width_) + "  <--\n";
  if (!reply.empty()) line += "  " + reply;
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string Picture::Draw() const {
  std::string out =
      "  " + Right("begin ms", time_width_) + " " + Right("end ms", time_width_) + "  client\n";
  if (hidden_ > 0) out += "  (" + std::to_string(hidden_) + " operations not drawn)\n";
  for (const std::size_t i : operations_) out += LineOf(i);
  return out;
}

}  // namespace

std::string Shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::string DrawOperations(const KvHistory& history, const std::vector<std::size_t>& operations,
                           std::size_t marked, Time until) {
  return Picture(history, operations, marked, until).Draw();
}

}  // namespace depfast::kv
