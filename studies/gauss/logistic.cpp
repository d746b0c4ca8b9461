/// @file
/// @brief Study gauss-logistic: logistic regression of random signs on rows of data and on Gaussian
/// samples of equal covariance.

#include <cmath>
#include <numbers>

#include "attica/sim/gauss/classifier.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/studies/gauss/model.hpp"
#include "attica/studies/sample_ratios.hpp"
#include "attica/theory/gauss/classifier.hpp"

namespace attica::gauss_logistic {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const std::vector<std::string> kGaussian = {"train_loss", "objective"};
const std::vector<std::string> kRows = {"data_train_loss", "data_objective"};

class Logistic : public PointwiseExperiment {
 public:
  explicit Logistic(Configuration& c)
      : model_(GaussianModel::from(c)),
        sizes_(
            swept_sizes(c, static_cast<double>(model_.problem().sites()), SampleCheck::when_used)),
        lambdas_(ascending(c.reals("sweep.lambda"))) {
    model_.require_penalties(lambdas_, "sweep.lambda");
    diagnostics_ = model_.diagnostics();
    warnings_ = joined_lines(model_.warnings(), rounded_ratios(c, sizes_));
  }

  void require_simulable() const override { require_distinct_samples(sizes_); }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kLinePoints = 40;
    const GaussianMlm& problem = model_.problem();
    const ArrayXd spectrum = problem.eigenvalues().tail(problem.rank()).array();
    TheoryResult result;
    for (const double lambda : lambdas_) {
      Curves gaussian = curves(kGaussian, lambda);
      Curves rows = curves(kRows, lambda);
      for (const double alpha :
           line_through(sizes_.alphas(grid), kLinePoints, AxisScale::log, grid)) {
        const double samples = sizes_.samples(alpha);
        const RandomSigns signs = random_signs(
            spectrum, samples, model_.absolute_lambda(lambda), ClassifierLoss::logistic);
        // The next order is a share of what fitting gains against a coin's ln 2: measured 0.1 to
        // 0.3 (N = 30, 61 and 120, λ/λ̄ = 0.03 to 1, α = 0.5 and 1), of the digits' rows 0.2 to 0.6.
        const double share = 1 / (samples * signs.one_minus_gamma);
        const auto told = [&](double value, double times) {
          return PredictedValue(value, times * share * std::abs(std::numbers::ln2 - value));
        };
        gaussian.add(alpha, {told(signs.train_loss, 0.6), told(signs.objective, 0.6)});
        rows.add(alpha, {told(signs.train_loss, 1.2), told(signs.objective, 1.2)});
      }
      gaussian.into(result);
      if (model_.from_data()) rows.into(result);
    }
    return result;
  }

  std::size_t points() const override { return sizes_.count(); }

 protected:
  double flops(std::size_t point) const override {
    constexpr double kSteps = 6;  // of Newton's method
    const auto m = static_cast<double>(sizes_[point]);
    const auto n = static_cast<double>(model_.problem().sites());
    return 2 * static_cast<double>(lambdas_.size()) * kSteps * n * n * (m + n / 3);
  }

  Outcome run(const Replicate& replicate) const override {
    RandomStream stream = replicate.stream();
    RandomStream signs = replicate.stream(StreamId::model);
    const Index samples = sizes_[replicate.point()];
    Outcome outcome;
    const auto observe = [&](const std::vector<std::string>& names, const MatrixXd& inputs) {
      const VectorXd labels =
          VectorXd::NullaryExpr(samples, [&](Index) { return signs.below(2) == 0 ? 1.0 : -1.0; });
      VectorXd start;
      for (auto lambda = lambdas_.rbegin(); lambda != lambdas_.rend(); ++lambda) {
        const LogisticFit fit =
            logistic_fit(inputs, labels, model_.absolute_lambda(*lambda), start);
        curves(names, *lambda)
            .add(sizes_.alpha(replicate.point()), {fit.train_loss, fit.objective})
            .into(outcome);
        start = fit.weights;
      }
    };
    observe(
        kGaussian,
        gaussian_samples(model_.factor(), model_.factor().isLowerTriangular(0), samples, stream));
    if (model_.from_data()) observe(kRows, model_.samples(samples, stream));
    return outcome;
  }

 private:
  static Curves curves(const std::vector<std::string>& names, double lambda) {
    return {{{"lambda", lambda}}, "alpha", names};
  }

  GaussianModel model_;
  SampleSizes sizes_;
  std::vector<double> lambdas_;
};

}  // namespace

Study study() { return described({.name = "gauss-logistic", .make = make<Logistic>}); }

}  // namespace attica::gauss_logistic
