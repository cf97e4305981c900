#include "faults/text.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace depfast::faults {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::size_t kMillisDigits = 3;
constexpr std::size_t kNanosDigits = 9;

// ---- printing ----

std::string Padded(std::int64_t value, std::size_t digits) {
  const std::string text = std::to_string(value);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

// With at least three digits after the point.
std::string ExactSeconds(Duration duration) {
  std::string fraction = Padded(duration.count() % kNanosPerSecond, kNanosDigits);
  while (fraction.size() > kMillisDigits && fraction.back() == '0') fraction.pop_back();
  return std::to_string(duration.count() / kNanosPerSecond) + "." + fraction + " s";
}

std::string RoundedSeconds(Duration duration) {
  constexpr std::int64_t kNanosPerMilli = 1'000'000;
  return ExactSeconds(Duration(duration.count() / kNanosPerMilli * kNanosPerMilli));
}

// In the large unit if that is exact: the text never names another amount.
std::string WithUnit(std::int64_t amount, std::int64_t large, const char* in_large,
                     const char* in_small) {
  return amount % large == 0 ? std::to_string(amount / large) + in_large
                             : std::to_string(amount) + in_small;
}

// "25%", "0.5%"
std::string PercentOf(std::int64_t per_mille) {
  const std::int64_t tenths = per_mille % 10;
  const std::string fraction = tenths == 0 ? "" : "." + std::to_string(tenths);
  return std::to_string(per_mille / 10) + fraction + "%";
}

std::string AmountOf(const Fault& fault) {
  switch (RowOf(fault.kind).unit) {
    case AmountUnit::kNone:
      return "";
    case AmountUnit::kPercent:
      return " " + std::to_string(fault.amount) + "%";
    case AmountUnit::kBytesPerSecond:
      return " " + WithUnit(fault.amount, 1024, " KB/s", " B/s");
    case AmountUnit::kNanoseconds:
      return " " + WithUnit(fault.amount, 1'000'000, " ms", " ns");
    case AmountUnit::kPerMille:
      return " " + PercentOf(fault.amount);
    case AmountUnit::kBytes:
      return " " + WithUnit(fault.amount, 1 << 20, " MB", " B");
  }
  return "";
}

std::string Write(const Fault& fault, std::string (*seconds)(Duration)) {
  std::string out = Fault::Name(fault.kind) + AmountOf(fault);
  out += fault.replicas.size() == 1 ? " on replica" : " on replicas";
  for (const PeerId replica : fault.replicas) out += " " + std::to_string(replica);
  if (!fault.receivers.empty()) out += " to";
  for (const PeerId receiver : fault.receivers) out += " " + std::to_string(receiver);
  out += " from " + seconds(fault.start);
  return fault.duration == kForever ? out : out + " for " + seconds(fault.duration);
}

// ---- parsing ----

template <typename Number>
std::optional<Number> NumberOf(std::string_view word) {
  Number number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  const bool whole = error == std::errc() && stop == end && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) { Advance(); }

  Fault Run() {
    const KindRow& row = ParseKind();
    Fault fault{row.kind, {}};
    fault.amount = ParseAmount(row);
    if (fault.amount < row.amount_min || fault.amount > row.amount_max) {
      Refuse(std::string(row.name) + " takes " + std::to_string(row.amount_min) + " to " +
             std::to_string(row.amount_max));
    }
    Expect("on");
    if (!Take("replica")) Expect("replicas");
    fault.replicas = ParseReplicas();
    if (NamesReceivers(row.kind)) {
      Expect("to");
      fault.receivers = ParseReplicas();
    }
    if (Take("from")) fault.start = ParseSeconds();
    if (Take("for")) fault.duration = ParseSeconds();
    if (!word_.empty()) Refuse("unexpected '" + std::string(word_) + "'");
    return fault;
  }

 private:
  [[noreturn]] void Refuse(const std::string& why) const {
    throw std::invalid_argument("'" + std::string(text_) + "' is not a fault: " + why);
  }

  // The next word; empty at the end.
  void Advance() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    word_ = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word_.size());
  }

  bool Take(std::string_view word) {
    if (word_ != word) return false;
    Advance();
    return true;
  }

  void Expect(std::string_view word) {
    if (!Take(word)) RefuseWord("'" + std::string(word) + "'");
  }

  [[noreturn]] void RefuseWord(const std::string& wanted) const {
    const std::string found = word_.empty() ? "the end" : "'" + std::string(word_) + "'";
    Refuse(wanted + " should stand where " + found + " is");
  }

  const KindRow& ParseKind() {
    for (const KindRow& row : kKinds) {
      if (Take(row.name)) return row;
    }
    std::string names;
    for (const KindRow& row : kKinds) names += " " + std::string(row.name);
    RefuseWord("one of" + names);
  }

  std::int64_t ParseAmount(const KindRow& row) {
    switch (row.unit) {
      case AmountUnit::kNone:
        return 0;
      case AmountUnit::kPercent:
        return ParsePercent();
      case AmountUnit::kBytesPerSecond:
        return ParseScaled("KB/s", 1024, "B/s");
      case AmountUnit::kNanoseconds:
        return ParseScaled("ms", 1'000'000, "ns");
      case AmountUnit::kPerMille:
        return ParseTenthsOfPercent();
      case AmountUnit::kBytes:
        return ParseScaled("MB", 1 << 20, "B");
    }
    return 0;
  }

  std::int64_t ParseInteger() {
    const auto number = NumberOf<std::int64_t>(word_);
    if (!number || *number > kAmountMax) RefuseWord("an amount");
    Advance();
    return *number;
  }

  std::int64_t ParsePercent() {
    if (word_.empty() || word_.back() != '%') RefuseWord("a percentage such as 5%");
    word_.remove_suffix(1);
    return ParseInteger();
  }

  // "25%" and "0.5%" are 250 and 5.
  std::int64_t ParseTenthsOfPercent() {
    if (word_.empty() || word_.back() != '%') RefuseWord("a percentage such as 0.5%");
    word_.remove_suffix(1);
    std::int64_t tenths = 0;
    if (const auto point = word_.find('.'); point != word_.npos) {
      const auto digit = NumberOf<std::int64_t>(word_.substr(point + 1));
      if (!digit || word_.size() - point != 2) {
        RefuseWord("a percentage with at most one digit after the point");
      }
      tenths = *digit;
      word_ = word_.substr(0, point);
    }
    const std::int64_t whole = ParseInteger();
    if (whole > kAmountMax / 10) Refuse("the amount is too large");
    return whole * 10 + tenths;
  }

  std::int64_t ParseScaled(std::string_view large, std::int64_t factor, std::string_view small) {
    const std::int64_t number = ParseInteger();
    if (Take(small)) return number;
    Expect(large);
    if (number > kAmountMax / factor) Refuse("the amount is too large");
    return number * factor;
  }

  std::vector<PeerId> ParseReplicas() {
    std::vector<PeerId> replicas;
    while (const auto replica = NumberOf<PeerId>(word_)) {
      replicas.push_back(*replica);
      Advance();
    }
    if (replicas.empty()) RefuseWord("a replica's number");
    return replicas;
  }

  // "1.5 s", to the nanosecond.
  Duration ParseSeconds() {
    const auto point = std::min(word_.find('.'), word_.size());
    const auto whole = NumberOf<std::int64_t>(word_.substr(0, point));
    std::string fraction(word_.substr(std::min(point + 1, word_.size())));
    const bool fits =
        point == word_.size() || (!fraction.empty() && fraction.size() <= kNanosDigits);
    fraction.resize(kNanosDigits, '0');
    const auto nanos = NumberOf<std::int64_t>(fraction);
    if (!fits || !whole || !nanos || *whole > (kNever.count() - *nanos) / kNanosPerSecond) {
      RefuseWord("a number of seconds");
    }
    Advance();
    Expect("s");
    return Duration(*whole * kNanosPerSecond + *nanos);
  }

  std::string_view text_;
  std::string_view rest_;  // after word_
  std::string_view word_;
};

}  // namespace

std::string Fault::Describe() const { return Write(*this, RoundedSeconds); }

std::string Print(const Fault& fault) {
  assert(fault.start >= Time::zero() && fault.duration >= Duration::zero());
  return Write(fault, ExactSeconds);
}

Fault Parse(std::string_view text) { return Parser(text).Run(); }

std::string PrintPlan(const FaultPlan& plan) {
  std::string out;
  for (const Fault& fault : plan) out += Print(fault) + "\n";
  return out;
}

FaultPlan ParsePlan(std::string_view text) {
  FaultPlan plan;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto first = line.find_first_not_of(' ');
    if (first == std::string_view::npos || line[first] == '#') continue;
    try {
      plan.push_back(Parse(line));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("line " + std::to_string(number) + ": " + error.what());
    }
  }
  return plan;
}

}  // namespace depfast::faults
