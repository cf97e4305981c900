// LatencyHistogram: latencies in buckets whose width is at most 1/16 of their value.
//
// Integers only, and mergeable, so that windows and replicas add up.
#pragma once

#include <cstdint>
#include <map>

#include "depfast/fields.h"
#include "depfast/time.h"

namespace depfast {

class LatencyHistogram {
 public:
  // Requires: latency >= 0.
  void Add(Duration latency) { ++counts_[BucketOf(latency)]; }
  void Merge(const LatencyHistogram& other);

  std::uint64_t count() const;
  // A latency that `permille` of all do not exceed (nearest rank): the largest of its bucket. Zero
  // without latencies.
  Duration Percentile(int permille) const;

  DEPFAST_FIELDS(counts_)

 private:
  static std::uint32_t BucketOf(Duration latency);
  // The largest latency of a bucket.
  static Duration UpperBound(std::uint32_t bucket);

  std::map<std::uint32_t, std::uint64_t> counts_;
};

}  // namespace depfast
