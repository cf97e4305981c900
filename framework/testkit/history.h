// History: what happened in a run, numbered, in words. The last lines of it explain a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "depfast/time.h"

namespace depfast::testkit {

class History {
 public:
  // Keeps the last `lines_max` lines.
  explicit History(std::size_t lines_max = 10'000) : lines_max_(lines_max) {}

  void Add(Time when, const std::string& what);
  // Of an invariant, with one sentence on how: "VIOLATION of log matching: replica 2 ...".
  void AddViolation(Time when, const std::string& invariant, const std::string& how);

  // Hears of every line from now on, before it is cut off or printed.
  using Listener = std::function<void(Time when, const std::string& what, bool is_violation)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

  // The last `count` lines, oldest first: "#12  1.204113 s  replica 2 leads term 3".
  std::string Tail(std::size_t count) const;
  std::string All() const { return Tail(lines_.size()); }

  std::uint64_t size() const { return next_; }

 private:
  void Append(Time when, const std::string& what, bool is_violation);

  std::size_t lines_max_;
  Listener listener_;
  std::uint64_t next_ = 0;  // lines ever added
  std::deque<std::string> lines_;
};

// "1.204113 s"
std::string FormatTime(Time when);

}  // namespace depfast::testkit
