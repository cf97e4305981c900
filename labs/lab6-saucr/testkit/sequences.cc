#include "sequences.h"

#include <bit>
#include <set>
#include <utility>

#include "depfast/host/random.h"

namespace depfast::saucr {
namespace {

constexpr std::size_t kStatesMax = 16;  // before a path's last child

class Walk {
 public:
  explicit Walk(const SequenceTree& tree)
      : tree_(tree), stream_(tree.seed, static_cast<std::uint64_t>(tree.replicas)) {}

  std::vector<Sequence> Run() {
    Visit({AllUp(tree_.replicas)});
    return std::move(leaves_);
  }

 private:
  void Visit(const Sequence& path) {
    bool has_child = false;
    for (UpSet child = 1; path.size() < kStatesMax && child <= AllUp(tree_.replicas); ++child) {
      const UpSet parent = path.back();
      const UpSet common = child & parent;
      if (child == parent || (common != child && common != parent)) continue;
      if (stream_.Below(1'000'000) >= ChanceOf(path.size(), std::popcount(child ^ parent))) {
        continue;
      }
      has_child = true;
      Sequence longer = path;
      longer.push_back(child);
      Visit(longer);
    }
    if (!has_child) Add(path);
  }

  std::uint64_t ChanceOf(std::size_t states, int changed) const {
    std::uint64_t ppm = tree_.first_ppm;
    for (std::size_t i = 1; i < states; ++i) ppm = ppm * tree_.length_permille / 1000;
    for (int i = 1; i < changed; ++i) ppm = ppm * tree_.change_permille / 1000;
    return ppm;
  }

  void Add(Sequence leaf) {
    const UpSet all = AllUp(tree_.replicas);
    if (leaf.back() != all) leaf.push_back(all);
    if (seen_.insert(leaf).second) leaves_.push_back(std::move(leaf));
  }

  const SequenceTree tree_;
  RandomStream stream_;
  std::set<Sequence> seen_;
  std::vector<Sequence> leaves_;
};

}  // namespace

SequenceTree TreeOf(int replicas) {
  if (replicas == 5) return {5, 883'000, 731, 228, 4};
  return {7, 925'000, 623, 171, 6};
}

std::size_t PublishedSequences(int replicas) { return replicas == 5 ? 498 : 766; }

std::vector<Sequence> SequencesOf(const SequenceTree& tree) { return Walk(tree).Run(); }

std::vector<Sequence> Some(const std::vector<Sequence>& all, std::size_t count) {
  if (count >= all.size()) return all;
  std::vector<Sequence> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(all[i * all.size() / count]);
  return some;
}

std::vector<Sequence> TheSequences(int replicas) {
  return Some(SequencesOf(TreeOf(replicas)), PublishedSequences(replicas));
}

std::string ToString(const Sequence& sequence) {
  std::string text;
  for (const UpSet state : sequence) {
    if (!text.empty()) text += ", ";
    for (int replica = 0; (state >> replica) != 0; ++replica) {
      if (((state >> replica) & 1) != 0) text += std::to_string(replica + 1);
    }
  }
  return text;
}

}  // namespace depfast::saucr
