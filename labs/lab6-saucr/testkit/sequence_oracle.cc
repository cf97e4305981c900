#include "sequence_oracle.h"

#include <algorithm>
#include <bit>

#include "saucr_types.h"

namespace depfast::saucr {
namespace {

bool IsMajority(UpSet set, int replicas) {
  return std::popcount(set) >= Quorums(replicas).majority();
}

}  // namespace

const char* ToString(Verdict verdict) {
  static constexpr const char* kNames[] = {"correct", "unavailable", "data loss"};
  return kNames[static_cast<int>(verdict)];
}

SaucrIdeal::SaucrIdeal(int replicas, System system)
    : minority_(Quorums(replicas).minority()), system_(system), up_(AllUp(replicas)) {}

bool SaucrIdeal::Serves() const { return std::popcount(recovered()) > minority_; }

bool SaucrIdeal::IsFast() const {
  return system_ == System::kSaucr && std::popcount(recovered()) > minority_ + 1;
}

void SaucrIdeal::Crash(UpSet replicas) {
  if (IsFast()) lost_ |= replicas;
  up_ &= ~replicas;
}

// All that are lost ask the same others.
void SaucrIdeal::Start(UpSet replicas) {
  up_ |= replicas;
  if (std::popcount(recovered()) >= minority_) lost_ &= ~up_;
}

Verdict IdealSaucr(const Sequence& sequence, int replicas, Crashes crashes) {
  SaucrIdeal ideal(replicas);
  for (const UpSet state : sequence) {
    const UpSet gone = ideal.up() & ~state;
    if (crashes == Crashes::kAtOnce) ideal.Crash(gone);
    for (UpSet left = ideal.up() & ~state; left != 0; left &= left - 1) {
      ideal.Crash(left & ~(left - 1));
    }
    ideal.Start(state & ~ideal.up());
  }
  return ideal.Serves() ? Verdict::kCorrect : Verdict::kUnavailable;
}

Verdict IdealVr(const Sequence& sequence, int replicas) {
  const bool serves = std::ranges::all_of(
      sequence, [replicas](UpSet state) { return IsMajority(state, replicas); });
  return serves ? Verdict::kCorrect : Verdict::kUnavailable;
}

Loss IdealMemory(const Sequence& sequence, int replicas) {
  Loss loss = Loss::kNone;
  UpSet latest = AllUp(replicas);  // those that have the latest data
  for (const UpSet state : sequence) {
    latest &= state;
    if (!IsMajority(state, replicas)) continue;
    if (latest == 0) return Loss::kCertain;
    if (IsMajority(state & ~latest, replicas)) loss = Loss::kPossible;
    latest = state;
  }
  return loss;
}

}  // namespace depfast::saucr
