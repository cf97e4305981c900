// Crash sequences: the states that a cluster goes through in the experiment of document 003,
// section 5.1.
//
// A state is the set of replicas that are up. Each next state follows by crashes alone, or by
// recoveries alone. A sequence begins and ends with all replicas up.
//
// The document prints neither the probabilities nor the seed of its generator. Those here give as
// many sequences as it has, and nearly the shares of its table 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace depfast::saucr {

// The replicas that are up, one bit each.
using UpSet = std::uint32_t;
using Sequence = std::vector<UpSet>;

inline constexpr UpSet AllUp(int replicas) { return (UpSet{1} << replicas) - 1; }

// A tree of states, whose root has all replicas up. Depth first, a child is visited with the
// probability first * length^(L-1) * change^(d-1): L states are on the path to it, and d replicas
// differ from its parent. All is computed in integers.
struct SequenceTree {
  int replicas = 0;
  std::uint64_t first_ppm = 0;
  std::uint64_t length_permille = 0;
  std::uint64_t change_permille = 0;
  std::uint64_t seed = 0;
};

// The trees of the experiment. Requires: `replicas` is 5 or 7.
SequenceTree TreeOf(int replicas);
// The numbers of sequences in the document's table 2. Requires: `replicas` is 5 or 7.
std::size_t PublishedSequences(int replicas);

// A sequence for each path of the tree that has no visited child. They are in order, and distinct.
std::vector<Sequence> SequencesOf(const SequenceTree& tree);

// `count` of them, evenly from first to last. All if there are no more.
std::vector<Sequence> Some(const std::vector<Sequence>& all, std::size_t count);

// Those of the experiment: Some(SequencesOf(TreeOf(replicas)), PublishedSequences(replicas)).
std::vector<Sequence> TheSequences(int replicas);

// "12345, 345, 45": replica 0 is called 1, as in the document.
std::string ToString(const Sequence& sequence);

}  // namespace depfast::saucr
