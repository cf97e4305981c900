#include "testkit/history.h"

#include <algorithm>

#include "src/core/in_seconds.h"

namespace depfast::testkit {

std::string FormatTime(Time when) { return InSeconds(when); }

void History::Add(Time when, const std::string& what) { Append(when, what, nullptr); }

void History::AddViolation(Time when, const std::string& invariant, const std::string& how,
                           std::vector<EarlierStep> earlier) {
  const Evidence evidence{frame_, std::move(earlier)};
  Append(when, "VIOLATION of " + invariant + ": " + how, &evidence);
}

void History::Append(Time when, const std::string& what, const Evidence* violation) {
  latest_ = this;
  if (listener_) listener_(when, what, violation);
  lines_.push_back("#" + std::to_string(++next_) + "  " + FormatTime(when) + "  " + what);
  if (lines_.size() > lines_max_) lines_.pop_front();
}

std::string History::Tail(std::size_t count) const {
  std::string out;
  const std::size_t first = lines_.size() - std::min(count, lines_.size());
  for (std::size_t i = first; i < lines_.size(); ++i) out += lines_[i] + "\n";
  return out;
}

}  // namespace depfast::testkit
