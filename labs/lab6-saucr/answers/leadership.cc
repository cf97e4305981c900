#include "leadership.h"

#include <limits>
#include <utility>

namespace depfast::saucr {

void Leadership::Begin() {
  is_open_ = false;
  term_began_at_ = std::numeric_limits<EntryIndex>::max();
  mode_ = {};  // R8
  ObserveMode(state_.runtime, elections_.term(), mode_.mode);
  followers_.BeginTerm(state_.last_index(), {});
}

void Leadership::Open(const std::vector<PeerId>& voters) {
  is_open_ = true;
  term_began_at_ = state_.last_index() + 1;
  followers_.BeginTerm(state_.last_index(), voters);
}

void Leadership::SetMode(const ModeState& mode) {
  const Mode before = std::exchange(mode_, mode).mode;
  if (before == mode.mode) return;
  ObserveMode(state_.runtime, elections_.term(), mode.mode);
  if (mode.mode == Mode::kSlow) {
    ObserveFlush(state_.runtime, FlushReason::kSlow, state_.last_index());
  }
}

AppendEntries Leadership::MakeAppend(EntryIndex first, EntryIndex end) const {
  AppendEntries message = MakeBeat();
  message.beat = false;
  message.prev = state_.IdAt(first - 1);
  message.entries = state_.log.Slice(first, end);
  return message;
}

AppendEntries Leadership::MakeBeat() const {
  return {elections_.term(),
          state_.runtime.self(),
          {},
          {},
          state_.commit_index,
          mode_.mode,
          /*beat=*/true,
          state_.map,
          state_.lives};
}

}  // namespace depfast::saucr
