#include "depfast/verify/latency_histogram.h"

#include <algorithm>
#include <bit>

namespace depfast {
namespace {

// Each power of two has 2^kBits buckets. Smaller latencies have a bucket of their own.
constexpr std::uint32_t kBits = 4;
constexpr std::uint32_t kBuckets = std::uint32_t{1} << kBits;
constexpr std::uint32_t kExponentMax = 62;  // of a Duration, which is not negative

}  // namespace

std::uint32_t LatencyHistogram::BucketOf(Duration latency) {
  const auto value = static_cast<std::uint64_t>(latency.count());
  if (value < kBuckets) return static_cast<std::uint32_t>(value);
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(value)) - 1;
  const auto mantissa = static_cast<std::uint32_t>(value >> (exponent - kBits)) & (kBuckets - 1);
  return (exponent - kBits + 1) * kBuckets + mantissa;
}

Duration LatencyHistogram::UpperBound(std::uint32_t bucket) {
  if (bucket < kBuckets) return Duration(bucket);
  // A report may hold any bucket.
  const std::uint32_t exponent = std::min(bucket / kBuckets + kBits - 1, kExponentMax);
  const std::uint64_t after = (std::uint64_t{kBuckets + bucket % kBuckets + 1})
                              << (exponent - kBits);
  return Duration(static_cast<std::int64_t>(after - 1));
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (const auto& [bucket, count] : other.counts_) counts_[bucket] += count;
}

std::uint64_t LatencyHistogram::count() const {
  std::uint64_t sum = 0;
  for (const auto& [bucket, count] : counts_) sum += count;
  return sum;
}

Duration LatencyHistogram::Percentile(int permille) const {
  const std::uint64_t all = count();
  const std::uint64_t rank =
      std::max<std::uint64_t>(1, (all * static_cast<std::uint64_t>(permille) + 999) / 1000);
  std::uint64_t seen = 0;
  for (const auto& [bucket, count] : counts_) {
    seen += count;
    if (seen >= rank) return UpperBound(bucket);
  }
  return Duration::zero();
}

}  // namespace depfast
