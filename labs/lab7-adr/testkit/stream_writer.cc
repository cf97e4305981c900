#include "stream_writer.h"

#include "adr_options.h"
#include "testkit/cluster.h"

namespace depfast::adr {
namespace {

// The updates of a stretch are drawn from this number of different ones.
constexpr std::int64_t kKinds = 512;
constexpr int kBurst = 20;

Duration GapBefore(const Stretch& stretch, std::int64_t update, RandomStream& random) {
  const Duration mean = kSecond / stretch.per_second;
  switch (stretch.arrivals) {
    case Arrivals::kRegular:
      return mean;
    case Arrivals::kJittered:
      return mean / 2 + random.Below(mean);
    case Arrivals::kPoisson: {
      // The wait for the first success of many unlikely ones: exponential, in integers.
      constexpr int kUnlikely = 32;
      Duration gap{};
      do gap += mean / kUnlikely;
      while (random.Below(kUnlikely) != 0);
      return gap;
    }
    case Arrivals::kBursts:
      return update % kBurst == 0 ? mean * kBurst : Duration();
  }
  return mean;
}

Duration Draw(const Stretch& stretch, RandomStream& random) {
  const Duration noise = stretch.value * stretch.noise / 100;
  return stretch.value - noise + random.Below(2 * noise + Duration(1));
}

}  // namespace

std::size_t StreamWriter::Add(const Stretch& stretch) {
  const auto first = static_cast<std::uint32_t>(runs_.size());
  for (std::int64_t i = 0; i < kKinds; ++i) {
    runs_.push_back({.kind = stretch.kind,
                     .gap_ns = GapBefore(stretch, i, random_).count(),
                     .value_ns = Draw(stretch, random_).count(),
                     .work = stretch.work});
  }
  Duration so_far{};
  for (std::int64_t i = 0; so_far < stretch.lasting; ++i) {
    auto kind = static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(kKinds)));
    // A burst's first update is drawn from the first ones of bursts.
    if (stretch.arrivals == Arrivals::kBursts) {
      kind -= kind % kBurst;
      kind = i % kBurst == 0 ? kind : kind + 1;
    }
    const auto place = first + static_cast<std::uint32_t>(kind);
    so_far += Duration(runs_[place].gap_ns);
    stream_.order.push_back(place);
  }
  return EndStretch();
}

std::size_t StreamWriter::Add(const std::vector<PlantedRun>& cycle, int times) {
  const auto first = static_cast<std::uint32_t>(runs_.size());
  runs_.insert(runs_.end(), cycle.begin(), cycle.end());
  for (int i = 0; i < times; ++i) {
    for (std::uint32_t place = first; place < runs_.size(); ++place) stream_.order.push_back(place);
  }
  return EndStretch();
}

void StreamWriter::Scale(std::int64_t thousandths) {
  for (PlantedRun& run : runs_) run.value_ns = run.value_ns * thousandths / 1000;
}

void StreamWriter::AddRun(const PlantedRun& run) {
  stream_.order.push_back(static_cast<std::uint32_t>(runs_.size()));
  runs_.push_back(run);
}

std::size_t StreamWriter::EndStretch() {
  stream_.ends.push_back(static_cast<std::uint32_t>(stream_.order.size()));
  return stream_.ends.size() - 1;
}

StreamWriter SaturatedWriter(std::uint64_t world) {
  StreamWriter writer(testkit::SeedOf(world));
  writer.Saturate();
  return writer;
}

}  // namespace depfast::adr
