// Ideal models: the outcome that a crash sequence must have in a system, told from its states alone
// (document 003, sections 2.2 and 5.1). No replica runs.
#pragma once

#include <cstdint>

#include "sequences.h"

namespace depfast::saucr {

enum class Verdict : std::uint8_t {
  kCorrect,      // at the end all are up, and every acknowledged command is there
  kUnavailable,  // no command commits any more
  kDataLoss,     // an acknowledged command is gone
};
const char* ToString(Verdict verdict);

// Whether the crashes between two states come one after the other, so that each is seen before the
// next, or in one instant.
enum class Crashes : std::uint8_t { kWithGaps, kAtOnce };

// SAUCR, and the systems that the document compares with it. They have its replicas but for this:
enum class System : std::uint8_t {
  kSaucr,
  kDiskDurable,    // it is in slow mode always
  kMemoryDurable,  // the same without a sync: see IdealMemory
};

// SAUCR's replicas, without time: each crash is seen and flushed for before the next one, and each
// state lasts until its mode is the one that it must have.
class SaucrIdeal {
 public:
  // All are up, in fast mode. Requires: as for Quorums. Of another system than SAUCR it tells the
  // service and the mode.
  explicit SaucrIdeal(int replicas, System system = System::kSaucr);

  // These crash in one instant. Those that crash in fast mode lose what they have buffered.
  // Requires: they are up.
  void Crash(UpSet replicas);
  // These start. A replica that has lost its data recovers from a minority of others.
  // Requires: they are down.
  void Start(UpSet replicas);

  UpSet up() const { return up_; }
  // Those that are up, and have lost nothing or have recovered.
  UpSet recovered() const { return up_ & ~lost_; }
  // Whether commands commit, and whether that is in fast mode.
  bool Serves() const;
  bool IsFast() const;

 private:
  const int minority_;
  const System system_;
  UpSet up_;
  UpSet lost_ = 0;  // up or down
};

// SAUCR: correct, or unavailable. With gaps the replicas crash in ascending order.
Verdict IdealSaucr(const Sequence& sequence, int replicas, Crashes crashes);

// Viewstamped replication that recovers from other replicas and writes to no disk: unavailable once
// it was without a majority (section 2.2.2).
Verdict IdealVr(const Sequence& sequence, int replicas);

// A log in memory whose replicas trust what they start with (section 2.2.1).
enum class Loss : std::uint8_t {
  kNone,
  kPossible,  // some majority had lost its data: that loses commands if it elects one of its own
  kCertain,   // a majority was up, and nobody in it had the latest data
};
Loss IdealMemory(const Sequence& sequence, int replicas);

}  // namespace depfast::saucr
