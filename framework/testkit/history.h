// History: the events of a run as numbered lines of text. The last lines explain a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast::testkit {

// A step that led to a violation, for `kit replay`.
struct EarlierStep {
  PeerId replica = kNobody;
  Time at{0};
  bool was_read = false;  // the message that the replica read in it, not the one that it sent
  std::string why;        // a sentence
};

// The frame and the earlier steps of a violation, as data.
struct Evidence {
  Bytes frame;  // breaks the rule; null if the step does so by something else
  std::vector<EarlierStep> earlier;
};

class History {
 public:
  // Keeps the last `lines_max` lines.
  explicit History(std::size_t lines_max = 10'000) : lines_max_(lines_max) {}
  ~History() {
    if (latest_ == this) latest_ = nullptr;
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  void Add(Time when, const std::string& what);
  // Adds "VIOLATION of log matching: replica 2 ...": the invariant, and one sentence on how.
  void AddViolation(Time when, const std::string& invariant, const std::string& how,
                    std::vector<EarlierStep> earlier = {});

  // Violations of this scope are about this frame. `history` may be null.
  class FrameScope {
   public:
    FrameScope(History* history, Bytes frame) : history_(history) {
      if (history_ != nullptr) history_->frame_ = std::move(frame);
    }
    ~FrameScope() {
      if (history_ != nullptr) history_->frame_ = nullptr;
    }
    FrameScope(const FrameScope&) = delete;
    FrameScope& operator=(const FrameScope&) = delete;

   private:
    History* history_;
  };

  // The listener hears of every line from now on. `violation` is null for other lines.
  using Listener =
      std::function<void(Time when, const std::string& what, const Evidence* violation)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

  // The last `count` lines, oldest first: "#12  1.204113 s  replica 2 leads term 3".
  std::string Tail(std::size_t count) const;
  std::string All() const { return Tail(lines_.size()); }

  std::uint64_t size() const { return next_; }
  const std::deque<std::string>& lines() const { return lines_; }  // those that are kept

  // The one that got the latest line, for a report of a crash; null if it is gone.
  static const History* Latest() { return latest_; }

 private:
  void Append(Time when, const std::string& what, const Evidence* violation);

  static inline const History* latest_ = nullptr;

  std::size_t lines_max_;
  Listener listener_;
  Bytes frame_;             // of a FrameScope
  std::uint64_t next_ = 0;  // lines ever added
  std::deque<std::string> lines_;
};

// "1.204113 s"
std::string FormatTime(Time when);

}  // namespace depfast::testkit
