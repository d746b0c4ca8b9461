/// @file
/// @brief Study tree-cooccurrence: how the co-occurrence of tokens shows the hierarchy that
/// generates them.

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/latent_tree_sampler.hpp"
#include "attica/solvers/distributions.hpp"
#include "attica/studies/joma_setup.hpp"
#include "attica/studies/joma_studies.hpp"
#include "attica/theory/latent_tree.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

Point rho_point(double rho) { return {{"rho", rho}}; }

/// Leaves of larger trees are not shown one by one.
constexpr Index kShownLeaves = 32;

class Cooccurrence : public Experiment {
 public:
  explicit Cooccurrence(const Configuration& c)
      : rhos_(sorted_reals(c, "sweep.rho")), samples_(c.integer("sim.samples")) {
    const std::vector<double> prior = c.reals("model.root_prior");
    std::vector<std::vector<double>> rows = c.rows("model.root_child");
    if (rows.size() == 1) rows.push_back(rows.front());  // one law for both children
    tree_.depth = static_cast<int>(c.integer("model.depth"));
    tree_.prior = Eigen::Map<const Eigen::VectorXd>(prior.data(), static_cast<Index>(prior.size()));
    tree_.root_child = MatrixXd(static_cast<Index>(rows.size()), tree_.classes());
    for (std::size_t a = 0; a < rows.size(); ++a) {
      require(rows[a].size() == prior.size(),
              "model.root_child",
              static_cast<double>(rows[a].size()),
              "rows with one probability per class of model.root_prior");
      for (std::size_t k = 0; k < prior.size(); ++k) {
        tree_.root_child(static_cast<Index>(a), static_cast<Index>(k)) = rows[a][k];
      }
    }
    constexpr Index kMostLeaves = 1 << 16;
    for (const double rho : rhos_) {
      const LatentTree tree = at(rho);
      validate(tree);
      require(tree.leaves() <= kMostLeaves, "model.depth", tree.depth, "at most 65536 leaves");
      for (Index m : {Index{0}, partner(tree.depth)}) {
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
      if (tree.depth > 1) {
        Prediction p =
            prediction("conditional_probability", rho_point(rho), "ancestor_height", {}, {});
        for (int height = 1; height < tree.depth; ++height) {
          p.series.x.push_back(height);
          p.series.y.push_back(conditional_probability(tree, partner(height), 0));
        }
        result.predictions.push_back(std::move(p));
      }
      result.predictions.push_back(
          prediction("conditional_probability_root",
                     rho_point(rho),
                     "ancestor_height",
                     {static_cast<double>(tree.depth)},
                     {conditional_probability(tree, partner(tree.depth), 0)}));
      result.predictions.push_back(
          constant_prediction("token_probability", rho_point(rho), leaf_probability(tree, 0)));
    }
    const LatentTree tree = at(rhos_.back());
    if (tree.leaves() <= kShownLeaves) {
      MatrixXd matrix(tree.leaves(), tree.leaves());
      for (Index m = 0; m < tree.leaves(); ++m) {
        for (Index l = 0; l < tree.leaves(); ++l)
          matrix(l, m) = conditional_probability(tree, l, m);
      }
      for (Series& row : matrix_rows(matrix))
        result.predictions.push_back({.series = std::move(row)});
    }
    return result;
  }

  std::size_t points() const override { return rhos_.size(); }
  std::uint64_t replicates_per_piece(std::size_t) const override {
    constexpr double kLeavesPerPiece = 5e7;
    const double work = static_cast<double>(samples_ * tree_.leaves());
    return static_cast<std::uint64_t>(std::clamp(kLeavesPerPiece / work, 1.0, 20.0));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    return each_replicate(piece, [&](std::uint64_t replicate) {
      RandomStream stream(piece.stream(replicate));
      return sample(piece.point, stream);
    });
  }

 private:
  LatentTree at(double rho) const {
    LatentTree tree = tree_;
    tree.rho = rho;
    return tree;
  }

  /// The first leaf whose closest common ancestor with leaf 0 is so high.
  static Index partner(int height) { return Index{1} << (height - 1); }

  static std::vector<Series> matrix_rows(const MatrixXd& matrix) {
    std::vector<Series> rows;
    for (Index m = 0; m < matrix.cols(); ++m) {
      Series row{
          "cooccurrence", {{"given", numbered(static_cast<std::size_t>(m))}}, "token", {}, {}};
      for (Index l = 0; l < matrix.rows(); ++l) {
        row.x.push_back(numbered(static_cast<std::size_t>(l)));
        row.y.push_back(matrix(l, m));
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  Outcome sample(std::size_t index, RandomStream& stream) const {
    const LatentTree tree = at(rhos_[index]);
    const LatentTreeSampler sampler(tree);
    const int depth = tree.depth;
    // Counts by class and values of leaf 0 and its partner at every height.
    std::vector<Eigen::MatrixXd> tables(static_cast<std::size_t>(depth),
                                        MatrixXd::Zero(tree.classes(), 4));
    const bool shown = index + 1 == rhos_.size() && tree.leaves() <= kShownLeaves;
    MatrixXd pairs = MatrixXd::Zero(shown ? tree.leaves() : 0, shown ? tree.leaves() : 0);
    std::vector<int> leaves;
    std::vector<Index> active;
    for (std::int64_t i = 0; i < samples_; ++i) {
      const int k = sampler.draw(stream, leaves);
      for (int height = 1; height <= depth; ++height) {
        const int cell = 2 * leaves[0] + leaves[static_cast<std::size_t>(partner(height))];
        tables[static_cast<std::size_t>(height - 1)](k, cell) += 1;
      }
      if (!shown) continue;
      active.clear();
      for (std::size_t l = 0; l < leaves.size(); ++l) {
        if (leaves[l] == 1) active.push_back(static_cast<Index>(l));
      }
      for (const Index m : active) {
        for (const Index l : active) pairs(l, m) += 1;
      }
    }
    Series conditional{"conditional_probability", rho_point(tree.rho), "ancestor_height", {}, {}};
    Series root{"conditional_probability_root", rho_point(tree.rho), "ancestor_height", {}, {}};
    double p_value = 1;
    for (int height = 1; height <= depth; ++height) {
      const MatrixXd& counts = tables[static_cast<std::size_t>(height - 1)];
      p_value = std::min(p_value, depth * chi_square_p(tree, partner(height), counts));
      const double given = counts.col(2).sum() + counts.col(3).sum();
      if (given == 0) continue;
      Series& series = height < depth ? conditional : root;
      series.x.push_back(height);
      series.y.push_back(counts.col(3).sum() / given);
    }
    Outcome outcome{.series = {}};
    if (depth > 1) outcome.series.push_back(std::move(conditional));
    outcome.series.push_back(std::move(root));
    outcome.series.push_back(
        {"chi_square_p", rho_point(tree.rho), "none", {0.0}, {std::min(p_value, 1.0)}});
    if (shown) {
      for (Index m = 0; m < pairs.cols(); ++m) pairs.col(m) /= std::max(pairs(m, m), 1.0);
      for (Series& row : matrix_rows(pairs)) outcome.series.push_back(std::move(row));
    }
    return outcome;
  }

  /// Probability of a chi-square at least that of the counts against the exact table.
  double chi_square_p(const LatentTree& tree, Index leaf, const MatrixXd& counts) const {
    double chi_square = 0;
    int cells = 0;
    for (Index k = 0; k < tree.classes(); ++k) {
      const double both = pair_probability(tree, leaf, 0, k);
      const double first = leaf_probability(tree, 0, k);
      const double second = leaf_probability(tree, leaf, k);
      const std::array<double, 4> exact = {
          1 - first - second + both, second - both, first - both, both};
      for (Index cell = 0; cell < 4; ++cell) {
        const double expected =
            static_cast<double>(samples_) * tree.prior[k] * exact[static_cast<std::size_t>(cell)];
        constexpr double kImpossible = 1e-9;
        if (expected < kImpossible) {
          if (counts(k, cell) > 0) return 0;
          continue;
        }
        ++cells;
        const double off = counts(k, cell) - expected;
        chi_square += off * off / expected;
      }
    }
    return cells > 1 ? chi_square_tail(chi_square, cells - 1) : 1;
  }

  LatentTree tree_;
  std::vector<double> rhos_;
  std::int64_t samples_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Cooccurrence>(c); }

Figure figure(const Configuration&) {
  Panel map{.kind = PanelKind::heat_map,
            .x = {.label = "token {/:Italic l}"},
            .y = {.label = "given token {/:Italic m}"},
            .layers = {{.series = "cooccurrence", .theory = false}},
            .x_name = "token",
            .y_coordinate = "given",
            .title = "sampled, largest {/:Italic ρ}",
            .value = {.label = "P({/:Italic l}|{/:Italic m})"}};
  return {
      .name = "tree-cooccurrence",
      .panels = {{.x = {.label = "height of common ancestor {/:Italic H}"},
                  .y = {.label = "P({/:Italic y_l} = 1 | {/:Italic y_m} = 1)"},
                  .layers = {{.series = "conditional_probability", .label = "{/:Italic ρ} = {rho}"},
                             {.series = "conditional_probability_root", .label = "root"}},
                  .x_name = "ancestor_height"},
                 map},
      .columns = 1,
      .caption =
          "Co-occurrence of tokens of a latent tree by the height of their closest common "
          "ancestor. Lines: closed form; points: sampled sequences, mean and standard "
          "error."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  constexpr double kRelative = 0.02;  // the theory is exact
  return {{.series = "conditional_probability", .relative = kRelative},
          {.series = "conditional_probability_root", .relative = kRelative}};
}

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  constexpr double kLevel = 1e-4;
  std::vector<bool> holds;
  double least = 1;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "chi_square_p") continue;
    for (const double p : curve.values.front()) {
      holds.push_back(p > kLevel);
      least = std::min(least, p);
    }
  }
  return {
      claim_in_every("joint-law",
                     "chi-square of class and pairs of tokens against the exact table, p > 1e-4",
                     holds,
                     "smallest p " + describe(CoordinateValue(least)))};
}

}  // namespace

Study tree_cooccurrence() {
  Parameter children =
      reals_parameter("model.root_child",
                      {0.9},
                      "q_ak = P(child a of the root is 1 | class k), a row per child; "
                      "one row: for both");
  children.fallback = Value(List{List{0.9, 0.2, 0.6}, List{0.9, 0.2, 0.6}});
  children.range = {.low = 0, .high = 1};
  children.rows = true;
  return {
      .name = "tree-cooccurrence",
      .question = "How does co-occurrence of tokens show the hierarchy behind them?",
      .neglects = "nothing",
      .parameters = {integer_parameter(
                         "model.depth", 4, "L, edges from root to leaves", {.low = 1, .high = 24}),
                     reals_parameter("model.root_prior",
                                     {0.5, 0.3, 0.2},
                                     "p_0(k), probabilities of the classes",
                                     {.low = 0, .high = 1}),
                     std::move(children),
                     reals_parameter("sweep.rho",
                                     {0.3, 0.6, 0.9},
                                     "correlation of a node with its parent",
                                     {.low = -1, .high = 1}),
                     integer_parameter("sim.samples", 20000, "sequences per replicate"),
                     replicates_parameter(100, "independent samples")},
      .series = {{"conditional_probability",
                  "P(l|m)",
                  "tokens under the first root child, by the height of their common ancestor"},
                 {"conditional_probability_root",
                  "P(l|m)",
                  "l under the second root child, m under the first"},
                 {"token_probability", "P(m)", "probability that a token occurs (theory)"},
                 {"cooccurrence", "P(l|m)", "all pairs, largest rho, up to 32 tokens"},
                 {"chi_square_p", "p", "of class and pairs of tokens, Bonferroni (simulation)"}},
      .presets = {{"quick", "the defaults: depth 4, 100 samples of 20000", {}},
                  {"paper",
                   "depth 8, a million sequences each",
                   {{"model.depth", 8}, {"sim.samples", 1000000}}}},
      .sources = {joma_source("Theorem 5")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims};
}

}  // namespace attica
