/// @file
/// @brief Study gauss-random-labels: ridge regression of random signs on rows of data and on
/// Gaussian samples of equal covariance: what is remembered of labels that have no rule.

#include "attica/sim/gauss/labels.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/studies/gauss/model.hpp"
#include "attica/studies/gauss/order.hpp"
#include "attica/studies/sample_ratios.hpp"
#include "attica/theory/gauss/labels.hpp"

namespace attica::gauss_random_labels {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

/// Names of the series of one kind of inputs.
struct Names {
  const char* train;
  const char* objective;
};
constexpr Names kGaussian{.train = "train_error", .objective = "objective"};
constexpr Names kRows{.train = "data_train_error", .objective = "data_objective"};

class RandomLabels : public PointwiseExperiment {
 public:
  explicit RandomLabels(Configuration& c)
      : model_(GaussianModel::from(c)),
        order_(configured_order(c)),
        sizes_(
            swept_sizes(c, static_cast<double>(model_.problem().sites()), SampleCheck::when_used)),
        lambdas_(ascending(c.reals("sweep.lambda"))),
        data_sets_(c.integer("sim.data_sets")),
        labellings_(c.integer("sim.labellings")) {
    model_.require_penalties(lambdas_, "sweep.lambda");
    diagnostics_ = model_.diagnostics();
    warnings_ = joined_lines(model_.warnings(), rounded_ratios(c, sizes_));
  }

  void require_simulable() const override { require_distinct_samples(sizes_); }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kLinePoints = 120;
    const GaussianMlm& problem = model_.problem();
    const LinearTask task{.spectrum = problem.eigenvalues().tail(problem.rank()).array(),
                          .weights2 = ArrayXd::Zero(problem.rank()),
                          .noise = 1};
    const std::vector<double> alphas =
        line_through(sizes_.alphas(grid), kLinePoints, AxisScale::log, grid);
    TheoryResult result;
    const auto add = [&](const Names& names, RidgeOrder order) {
      for (const double lambda : lambdas_) {
        Curves all = curves(names, lambda);
        for (const double alpha : alphas) {
          const LabelRidge ridge =
              label_ridge(task, sizes_.samples(alpha), model_.absolute_lambda(lambda), order);
          all.add(alpha,
                  {train_error_value(
                       order, ridge.train_error, ridge.test_error, ridge.finite_size_train),
                   train_error_value(
                       order, ridge.objective, ridge.test_error, ridge.finite_size_objective)});
        }
        all.into(result);
      }
    };
    add(kGaussian, order_);
    if (model_.from_data()) add(kRows, RidgeOrder::leading);
    return result;
  }

  std::size_t points() const override { return sizes_.count(); }

 protected:
  double flops(std::size_t point) const override {
    const auto m = static_cast<double>(sizes_[point]);
    const auto n = static_cast<double>(model_.problem().sites());
    const double labels = 4 * m * n * static_cast<double>(labellings_);
    return 2 * static_cast<double>(data_sets_) *
           (m * n * n + static_cast<double>(lambdas_.size()) * (labels + n * n * n));
  }

  Outcome run(const Replicate& replicate) const override {
    RandomStream stream = replicate.stream();
    RandomStream signs = replicate.stream(StreamId::model);
    Outcome outcome;
    const Index samples = sizes_[replicate.point()];
    const auto observe = [&](const Names& names, const auto& draw) {
      std::vector<Curves> all;
      std::vector<double> train(lambdas_.size());
      std::vector<double> objective(lambdas_.size());
      for (std::int64_t set = 0; set < data_sets_; ++set) {
        const MatrixXd labels = MatrixXd::NullaryExpr(
            samples, labellings_, [&](Index, Index) { return signs.below(2) == 0 ? 1.0 : -1.0; });
        const LabelFits fits(draw(), labels);
        for (std::size_t l = 0; l < lambdas_.size(); ++l) {
          const double lambda = model_.absolute_lambda(lambdas_[l]);
          const MatrixXd weights = fits.weights(lambda);
          const double error = fits.train_errors(weights).mean();
          const double norm2 = weights.squaredNorm() / static_cast<double>(labellings_);
          train[l] += error / static_cast<double>(data_sets_);
          objective[l] += (error + lambda * norm2) / static_cast<double>(data_sets_);
        }
      }
      for (std::size_t l = 0; l < lambdas_.size(); ++l) {
        curves(names, lambdas_[l])
            .add(sizes_.alpha(replicate.point()), {train[l], objective[l]})
            .into(outcome);
      }
    };
    observe(kGaussian, [&] {
      return gaussian_samples(
          model_.factor(), model_.factor().isLowerTriangular(0), samples, stream);
    });
    if (model_.from_data()) observe(kRows, [&] { return model_.samples(samples, stream); });
    return outcome;
  }

 private:
  static Curves curves(const Names& names, double lambda) {
    return {{{"lambda", lambda}}, "alpha", {names.train, names.objective}};
  }

  GaussianModel model_;
  RidgeOrder order_;
  SampleSizes sizes_;
  std::vector<double> lambdas_;
  std::int64_t data_sets_;
  Index labellings_;
};

}  // namespace

Study study() { return described({.name = "gauss-random-labels", .make = make<RandomLabels>}); }

}  // namespace attica::gauss_random_labels
