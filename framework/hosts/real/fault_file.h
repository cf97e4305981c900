// FaultFile: a file through which another process makes a replica slow for a while.
//
// The replica makes a small file and reads it again and again. An injector writes the amount of a
// fault and its end there. So nothing has to end the fault: it is over at that time even if the
// injector has died.
//
// The file holds native 64-bit integers: the number of fault kinds, and then for each kind, in the
// order of the catalogue (faults/catalogue.h),
//
//   until      the end of the fault, in nanoseconds of CLOCK_MONOTONIC; 0: there is no fault
//   amount     in the unit of the kind
//   receivers  of kinds that name receivers: a bit for each replica; the lowest is replica 0
//
// To change a fault, write 0 as `until` first and the new end last. A file that is too short holds
// no fault, and an amount outside its bounds is none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "depfast/host/host.h"
#include "depfast/time.h"
#include "faults/catalogue.h"
#include "real/descriptor.h"

namespace depfast::real {

// The faults that are on at one moment.
class InjectedFaults {
 public:
  void Add(faults::FaultKind kind, std::int64_t amount, std::uint64_t receivers = 0);

  bool Has(faults::FaultKind kind) const { return Of(kind).on; }
  // The amount of the fault; `without` if there is none.
  std::int64_t AmountOr(faults::FaultKind kind, std::int64_t without) const {
    return Has(kind) ? Of(kind).amount : without;
  }
  // Whether the fault is on and names that replica as a receiver.
  bool Names(faults::FaultKind kind, PeerId receiver) const;
  bool empty() const { return empty_; }

 private:
  struct Injection {
    bool on = false;
    std::int64_t amount = 0;
    std::uint64_t receivers = 0;
  };
  const Injection& Of(faults::FaultKind kind) const {
    return injections_[static_cast<std::size_t>(kind)];
  }

  std::array<Injection, faults::kKinds.size()> injections_{};
  bool empty_ = true;
};

class FaultFile {
 public:
  // Makes the file, without a fault: a new replica does not inherit one. Throws std::system_error
  // with a one-line message if it cannot.
  explicit FaultFile(const std::string& path);

  // The faults at `now` on CLOCK_MONOTONIC. May be called by any thread.
  InjectedFaults At(Time now) const;

 private:
  Descriptor file_;
};

}  // namespace depfast::real
