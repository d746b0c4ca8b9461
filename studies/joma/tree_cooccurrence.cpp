/// @file
/// @brief Study tree-cooccurrence: how the co-occurrence of tokens shows the hierarchy that
/// generates them.

#include "attica/sim/joma/latent_tree_sampler.hpp"
#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/latent_tree.hpp"

namespace attica::tree_cooccurrence {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index kShownLeaves = 32;  // a map of more tokens is not read

class Cooccurrence : public PointwiseExperiment {
 public:
  explicit Cooccurrence(const Configuration& c)
      : tree_(configured_tree(c)),
        rhos_(ascending(c.reals("sweep.rho"))),
        samples_(c.integer("sim.samples")) {
    constexpr Index kMostLeaves = 1 << 16;
    for (const double rho : rhos_) {
      const LatentTree tree = at(rho);
      validate(tree);
      require(tree.leaves() <= kMostLeaves, "model.depth", tree.depth, "at most 65536 leaves");
      for (Index m : {Index{0}, LatentTree::partner(tree.depth)}) {
        require(leaf_probability(tree, m) > 0,
                "sweep.rho",
                rho,
                "a tree whose tokens occur with positive probability");
      }
    }
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    for (const double rho : rhos_) {
      const LatentTree tree = at(rho);
      Curves below = conditional("conditional_probability", rho);
      Curves root = conditional("conditional_probability_root", rho);
      for (int height = 1; height <= tree.depth; ++height) {
        const double p = conditional_probability(tree, LatentTree::partner(height), 0);
        (height < tree.depth ? below : root).add(height, {PredictedValue(p)});
      }
      if (!below.empty()) below.into(result);
      root.into(result);
      add_constant(result, "token_probability", leaf_probability(tree, 0), {{"rho", rho}});
    }
    if (!shown(rhos_.size() - 1)) return result;
    const LatentTree tree = at(rhos_.back());
    MatrixXd given(tree.leaves(), tree.leaves());
    for (Index m = 0; m < tree.leaves(); ++m) {
      for (Index l = 0; l < tree.leaves(); ++l) given(m, l) = conditional_probability(tree, l, m);
    }
    map_rows("cooccurrence", "given", "token", given).into(result);
    return result;
  }

  std::size_t points() const override { return rhos_.size(); }

 protected:
  double flops(std::size_t) const override {
    constexpr double kPerLeaf = 40;
    return kPerLeaf * static_cast<double>(samples_ * tree_.leaves());
  }

  Outcome run(const Replicate& replicate) const override {
    const double rho = rhos_[replicate.point()];
    const LatentTree tree = at(rho);
    RandomStream stream = replicate.stream();
    const bool map = shown(replicate.point());
    LeafCounts counts = count_leaves(LatentTreeSampler(tree), samples_, map, stream);
    Curves below = conditional("conditional_probability", rho);
    Curves root = conditional("conditional_probability_root", rho);
    Outcome outcome;
    double p_value = 1;
    for (int height = 1; height <= tree.depth; ++height) {
      const MatrixXd& table = counts.partners[static_cast<std::size_t>(height - 1)];
      p_value = std::min(p_value,
                         tree.depth * pair_chi_square_p(tree, LatentTree::partner(height), table));
      const double given = table.col(2).sum() + table.col(3).sum();
      if (height == 1) {
        add_constant(
            outcome, "token_probability", given / static_cast<double>(samples_), {{"rho", rho}});
      }
      if (given == 0) continue;
      (height < tree.depth ? below : root)
          .add(height, {PredictedValue(table.col(3).sum() / given)});
    }
    if (tree.depth > 1) below.into(outcome);
    root.into(outcome);
    add_constant(outcome, "chi_square_p", std::min(p_value, 1.0), {{"rho", rho}});
    if (map) {
      MatrixXd& pairs = counts.pairs;  // symmetric
      for (Index m = 0; m < pairs.rows(); ++m) pairs.row(m) /= std::max(pairs(m, m), 1.0);
      map_rows("cooccurrence", "given", "token", pairs).into(outcome);
    }
    return outcome;
  }

 private:
  LatentTree at(double rho) const {
    LatentTree tree = tree_;
    tree.rho = rho;
    return tree;
  }
  static Curves conditional(const std::string& name, double rho) {
    return {{{"rho", rho}}, "ancestor_height", {name}};
  }
  /// Whether all pairs are: of the largest rho, unless there are too many.
  bool shown(std::size_t point) const {
    return point + 1 == rhos_.size() && tree_.leaves() <= kShownLeaves;
  }

  LatentTree tree_;
  std::vector<double> rhos_;
  std::int64_t samples_;
};

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  constexpr double kLevel = 0.05;  // of each sample: 95 % pass under the exact law
  ByReplicate<double> tests;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "chi_square_p" || curve.values.empty()) continue;
    tests.append(by_replicate(curve.values.front()));
  }
  double least = 1;
  for (const double p : tests.entries()) least = std::min(least, p);
  return {claim_rate("joint-law",
                     "chi-square of class and pairs of tokens against the exact table, p > 0.05",
                     tests.where([](double p) { return p > kLevel; }),
                     "smallest p " + describe(CoordinateValue(least)))};
}

}  // namespace

Study study() {
  return described({.name = "tree-cooccurrence", .make = make<Cooccurrence>, .claims = claims});
}

}  // namespace attica::tree_cooccurrence
