/// @file
/// @brief Study gauss-double-descent: generalization error of ridge regression in Gaussian masked
/// modelling against the number of samples, theory over simulation, on model covariances and on
/// users' own data.

#include "attica/studies/gauss/ridge_sweep.hpp"
#include "attica/studies/mean_claims.hpp"

namespace attica::gauss_double_descent {
namespace {

/// The mean predictor's squared bias is the product of the deviations of two estimators that share
/// nothing: the mean over the pairs of a replicate's data sets.
class DoubleDescent : public RidgeSweep {
 public:
  explicit DoubleDescent(Configuration& c)
      // The parts of the test error are known as well as the whole.
      : RidgeSweep(
            c,
            RidgeAxis::alpha,
            {{"test_error",
              &RidgePoint::test_error,
              &RidgePoint::finite_size_test,
              &RidgeFit::test},
             {"train_error",
              &RidgePoint::train_error,
              &RidgePoint::finite_size_train,
              &RidgeFit::train},
             {"bias", &RidgePoint::bias, &RidgePoint::finite_size_test},
             {"sampling_variance", &RidgePoint::sampling_variance, &RidgePoint::finite_size_test},
             {"noise_variance", &RidgePoint::noise_variance, &RidgePoint::finite_size_test}}),
        best_([this] { return BestPredictors(model().problem()); }) {}

 protected:
  double flops(std::size_t point) const override {
    constexpr double kWithParts = 1.3;
    return kWithParts * RidgeSweep::flops(point);
  }

  Outcome run(const Replicate& replicate) const override {
    // Data have no noise that is independent of the inputs; one data set has no bias.
    const std::vector<RidgeFits> sets = data_sets(replicate);
    if (model().from_data() || sets.size() < 2) return RidgeSweep::run(replicate);
    const double alpha = sizes().alpha(replicate.point());
    Outcome outcome;
    for (const double lambda : lambdas()) {
      std::vector<RidgeSplit> splits;
      for (const RidgeFits& set : sets) {
        splits.push_back(set.split(model().absolute_lambda(lambda), best_.get()));
      }
      const auto mean = [&](const auto& measure) { return mean_over(splits, measure); };
      curves(alpha, lambda, true)
          .add(alpha,
               {mean([](const RidgeSplit& s) { return s.fit.test.mean(); }),
                mean([](const RidgeSplit& s) { return s.fit.train.mean(); })})
          .into(outcome);
      const auto sites = static_cast<double>(model().problem().sites());
      const double signal =
          mean([&](const RidgeSplit& s) { return s.signal.squaredNorm() / sites; });
      const double noise = mean([&](const RidgeSplit& s) { return s.noise.squaredNorm() / sites; });
      Eigen::MatrixXd all = Eigen::MatrixXd::Zero(splits[0].signal.rows(), splits[0].signal.cols());
      for (const RidgeSplit& split : splits) all += split.signal;
      const auto count = static_cast<double>(splits.size());
      const double bias = (all.squaredNorm() / (sites * count) - signal) / (count - 1);
      Curves({{"lambda", lambda}}, "alpha", {"bias", "sampling_variance", "noise_variance"})
          .add(alpha, {bias, signal - bias, noise})
          .into(outcome);
    }
    return outcome;
  }

 private:
  Lazy<BestPredictors> best_;
};

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  if (on_data(c)) return {};
  return claims_on_average(observed, study_named(c.study()).agreement(c));
}

}  // namespace

Study study() {
  return described({.name = "gauss-double-descent", .make = make<DoubleDescent>, .claims = claims});
}

}  // namespace attica::gauss_double_descent
