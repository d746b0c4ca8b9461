/// @file
/// @brief Study gauss-mixture: random labels on inputs from two Gaussian clusters, which one
/// covariance does not describe if the clusters differ in size or shape.

#include "attica/theory/gauss/mixture.hpp"

#include <array>
#include <cmath>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/sim/gauss/labels.hpp"
#include "attica/studies/gauss/model.hpp"
#include "attica/studies/sample_ratios.hpp"

namespace attica::gauss_mixture {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

const std::vector<std::string> kSeries = {"objective", "train_error"};

class Mixture : public PointwiseExperiment {
 public:
  explicit Mixture(Configuration& c)
      : spectrum_(GaussianMlm(ar1_covariance(c.integer("model.sites"), c.real("model.rho")))
                      .eigenvalues()
                      .array()),
        share_(c.real("model.share")),
        mean_(c.real("model.mean")),
        lambda_(c.real("model.lambda")),
        shape_(c.text("model.clusters") == "shape"),
        mixture_(c.text("theory.clusters") == "mixture"),
        labellings_(c.integer("sim.labellings")),
        spreads_(ascending(c.reals("sweep.spread"))),
        sizes_(with_distinct_ratios(c, static_cast<double>(spectrum_.size())).reals("sweep.alpha"),
               static_cast<double>(spectrum_.size()),
               kMostSamples,
               "sweep.alpha",
               SampleCheck::when_used) {
    // What the second cluster has more of where the first has less.
    require(
        !shape_ || spreads_.back() * share_ / (1 - share_) <= 1,
        "sweep.spread",
        spreads_.back(),
        "spread * share/(1 - share) <= 1 with clusters = \"shape\": variances are not negative");
    warnings_ = rounded_ratios(c, sizes_);
  }

  void require_simulable() const override { require_distinct_samples(sizes_); }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kLinePoints = 60;
    const std::vector<double> alphas =
        line_through(sizes_.alphas(grid), kLinePoints, AxisScale::log, grid);
    TheoryResult result;
    for (const double spread : spreads_) {
      Curves all = curves(spread);
      const std::array<InputCluster, 2> clusters =
          mixture_ ? std::array{cluster(0, spread), cluster(1, spread)}
                   : std::array{cluster(0, 0), cluster(1, 0)};
      for (const double alpha : alphas) {
        const double samples = sizes_.samples(alpha);
        const MixtureLabels labels = mixture_labels(clusters, samples, lambda_);
        // Order 1/M: -0.1 to -0.6(2)/M of the objective, 0 to -0.8(3)/M of the train error,
        // measured.
        all.add(alpha,
                {{labels.objective, kObjective * labels.objective / samples},
                 {labels.train_error, kTrain * labels.train_error / samples}});
      }
      all.into(result);
    }
    return result;
  }

  std::size_t points() const override { return spreads_.size() * sizes_.count(); }

 protected:
  double flops(std::size_t point) const override {
    const auto m = static_cast<double>(sizes_[point % sizes_.count()]);
    const auto n = static_cast<double>(spectrum_.size());
    return m * n * n + 4 * m * n * static_cast<double>(labellings_) + n * n * n;
  }

  Outcome run(const Replicate& replicate) const override {
    RandomStream stream = replicate.stream();
    RandomStream signs = replicate.stream(StreamId::model);
    const std::size_t size = replicate.point() % sizes_.count();
    const double spread = spreads_[replicate.point() / sizes_.count()];
    const Index samples = sizes_[size];
    const std::array<ArrayXd, 2> deviations = {cluster(0, spread).variances.sqrt(),
                                               cluster(1, spread).variances.sqrt()};
    const double shift = mean_ / std::sqrt(static_cast<double>(spectrum_.size()));
    MatrixXd inputs(samples, spectrum_.size());
    for (Index row = 0; row < samples; ++row) {
      const std::size_t k = stream.uniform() < share_ ? 0 : 1;
      for (Index i = 0; i < inputs.cols(); ++i) {
        inputs(row, i) = deviations[k][i] * stream.normal() + (k == 0 ? shift : -shift);
      }
    }
    const MatrixXd labels = MatrixXd::NullaryExpr(
        samples, labellings_, [&](Index, Index) { return signs.below(2) == 0 ? 1.0 : -1.0; });
    const LabelFits fits(std::move(inputs), labels);
    const MatrixXd weights = fits.weights(lambda_);
    const double error = fits.train_errors(weights).mean();
    const double norm2 = weights.squaredNorm() / static_cast<double>(labellings_);
    Outcome outcome;
    curves(spread).add(sizes_.alpha(size), {error + lambda_ * norm2, error}).into(outcome);
    return outcome;
  }

 private:
  static constexpr double kMostSamples = 1e6;
  static constexpr double kObjective = 1;
  static constexpr double kTrain = 1.5;

  static Curves curves(double spread) { return {{{"spread", spread}}, "alpha", kSeries}; }

  /// The first has 1 - spread of the variances (shape: on every other direction, 1 + spread on the
  /// rest), the second what keeps their mean.
  InputCluster cluster(int k, double spread) const {
    const double change = k == 0 ? -spread : spread * share_ / (1 - share_);
    ArrayXd variances = (1 + change) * spectrum_;
    if (shape_) {
      for (Index i = 1; i < variances.size(); i += 2) variances[i] = (1 - change) * spectrum_[i];
    }
    return {.share = k == 0 ? share_ : 1 - share_, .variances = std::move(variances)};
  }

  ArrayXd spectrum_;
  double share_;
  double mean_;
  double lambda_;
  bool shape_;
  bool mixture_;  ///< the theory knows of two clusters
  Index labellings_;
  std::vector<double> spreads_;
  SampleSizes sizes_;
};

}  // namespace

Study study() { return described({.name = "gauss-mixture", .make = make<Mixture>}); }

}  // namespace attica::gauss_mixture
