#include "attica/sim/joma/latent_tree_sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace attica {
namespace {

constexpr std::size_t kEdges = BulkBernoulli::kWords;  // edges that are drawn together

}  // namespace

std::uint64_t TreeBlock::of_class(int k) const {
  std::uint64_t bits = 0;
  for (std::size_t s = 0; s < kSequences; ++s) bits |= std::uint64_t{classes[s] == k} << s;
  return bits;
}

LatentTreeSampler::LatentTreeSampler(LatentTree tree)
    : tree_(std::move(tree)), cumulative_(tree_.prior.begin(), tree_.prior.end()) {
  std::partial_sum(cumulative_.begin(), cumulative_.end(), cumulative_.begin());
}

void LatentTreeSampler::draw(RandomStream& stream, TreeBlock& block) const {
  std::array<double, TreeBlock::kSequences> uniform;  // NOLINT(*-member-init): filled just below
  stream.fill_uniform(uniform);
  block.classes.fill(0);
  for (std::size_t k = 0; k + 1 < cumulative_.size(); ++k) {
    for (std::size_t s = 0; s < uniform.size(); ++s) {
      block.classes[s] += uniform[s] >= cumulative_[k] ? 1 : 0;
    }
  }
  // Filled up to whole groups of edges, whatever is drawn for those that do not exist.
  const auto filled = [](std::size_t nodes) { return (nodes + kEdges - 1) / kEdges * kEdges; };
  std::vector<std::uint64_t>& nodes = block.leaves;
  const auto leaves = static_cast<std::size_t>(tree_.leaves());
  nodes.resize(filled(leaves));
  auto count = static_cast<std::size_t>(tree_.root_child.rows());
  for (std::size_t a = 0; a < count; ++a) {
    stream.fill_uniform(uniform);
    nodes[a] = 0;
    for (std::size_t s = 0; s < uniform.size(); ++s) {
      const bool active =
          uniform[s] < tree_.root_child(static_cast<Eigen::Index>(a), block.classes[s]);
      nodes[a] |= std::uint64_t{active} << s;
    }
  }
  // The rarer of keeping and changing the parent's value, and what else happens.
  const double rare = 0.5 * (1 - std::abs(tree_.rho));
  const std::uint64_t usual = tree_.rho >= 0 ? 0 : ~std::uint64_t{0};
  BulkBernoulli changes(stream, rare);  // bit s of a word: of sequence s
  for (int level = 1; level < tree_.depth; ++level) {
    // In place from the end: children never overwrite a parent that is still needed.
    count *= 2;
    for (std::size_t first = filled(count); first > 0;) {
      first -= kEdges;
      const BulkBernoulli::Words changed = changes.draw();
      std::array<std::uint64_t, kEdges / 2> parents;  // NOLINT(*-member-init): filled just below
      std::copy_n(&nodes[first / 2], parents.size(), parents.begin());
      for (std::size_t i = 0; i < kEdges; ++i)
        nodes[first + i] = parents[i / 2] ^ usual ^ changed[i];
    }
  }
  nodes.resize(leaves);
}

int TreeSequences::draw(std::vector<int>& leaves) {
  if (next_ == TreeBlock::kSequences) {
    sampler_.draw(stream_, block_);
    next_ = 0;
  }
  leaves.resize(block_.leaves.size());
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    leaves[l] = static_cast<int>(block_.leaves[l] >> next_ & 1U);
  }
  return block_.classes[next_++];
}

LeafCounts count_leaves(const LatentTreeSampler& sampler,
                        std::int64_t samples,
                        bool all_pairs,
                        RandomStream& stream) {
  const LatentTree& tree = sampler.tree();
  const Eigen::Index shown = all_pairs ? tree.leaves() : 0;
  LeafCounts counts{std::vector<Eigen::MatrixXd>(static_cast<std::size_t>(tree.depth),
                                                 Eigen::MatrixXd::Zero(tree.classes(), 4)),
                    Eigen::MatrixXd::Zero(shown, shown)};
  TreeBlock block;
  constexpr auto kDrawn = static_cast<std::int64_t>(TreeBlock::kSequences);
  for (std::int64_t left = samples; left > 0; left -= kDrawn) {
    sampler.draw(stream, block);
    const std::uint64_t counted = ~std::uint64_t{0} >> (kDrawn - std::min(left, kDrawn));
    const std::vector<std::uint64_t>& leaves = block.leaves;
    for (Eigen::Index k = 0; k < tree.classes(); ++k) {
      const std::uint64_t those = counted & block.of_class(static_cast<int>(k));
      if (those == 0) continue;
      for (int height = 1; height <= tree.depth; ++height) {
        const std::uint64_t partner = leaves[static_cast<std::size_t>(LatentTree::partner(height))];
        auto row = counts.partners[static_cast<std::size_t>(height - 1)].row(k);
        row[0] += std::popcount(those & ~leaves[0] & ~partner);
        row[1] += std::popcount(those & ~leaves[0] & partner);
        row[2] += std::popcount(those & leaves[0] & ~partner);
        row[3] += std::popcount(those & leaves[0] & partner);
      }
    }
    for (Eigen::Index m = 0; m < shown; ++m) {
      const std::uint64_t given = counted & leaves[static_cast<std::size_t>(m)];
      for (Eigen::Index l = 0; l < shown; ++l) {
        counts.pairs(l, m) += std::popcount(given & leaves[static_cast<std::size_t>(l)]);
      }
    }
  }
  return counts;
}

}  // namespace attica
