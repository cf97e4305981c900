// DiskFaultFile: how another process makes a replica's disk slow for a while.
//
// The replica reads a small file after each disk operation. An injector writes the amounts of a
// fault there, and until when they hold. So nothing has to end the fault: it is over at that time
// even if the injector has died.
//
// The file holds native 64-bit integers:
//
//   0  until: the end of the fault, in nanoseconds of CLOCK_MONOTONIC; 0: there is no fault
//   1  delay: of each operation, in nanoseconds
//   2  rate: bytes per second; 0: as fast as the disk is
//   3  share: the percent of each 100 ms in which the disk works; 0: all
//
// To change the amounts, write 0 as `until` first and the new end last. A file that is too short
// holds no fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "depfast/time.h"
#include "real/descriptor.h"

namespace depfast::real {

// The fault kinds fs-delay, disk-slow and disk-contention (faults/catalogue.h), with the amounts
// that leave the disk as it is.
struct DiskFault {
  Duration delay{0};
  std::int64_t bytes_per_second = 0;
  int percent = 100;
};

class DiskFaultFile {
 public:
  // Makes the file, without a fault: a new replica does not inherit one. Throws std::system_error
  // with a one-line message if it cannot.
  explicit DiskFaultFile(const std::string& path);

  // The fault at `now` on CLOCK_MONOTONIC. Amounts outside their bounds leave the disk as it is.
  std::optional<DiskFault> At(Time now) const;

 private:
  Descriptor file_;
};

}  // namespace depfast::real
