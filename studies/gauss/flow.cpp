/// @file
/// @brief Study gauss-flow: test and training error of full-batch gradient flow in Gaussian masked
/// modelling against the training time.

#include "attica/sim/gauss/flow.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attica/core/parallel.hpp"
#include "attica/studies/gauss/ridge_sweep.hpp"
#include "attica/studies/sample_ratios.hpp"
#include "attica/studies/start_file.hpp"
#include "attica/theory/gauss/flow.hpp"
#include "attica/theory/gauss/population_flow.hpp"

namespace attica::gauss_flow {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

class FlowCurves : public PointwiseExperiment {
 public:
  explicit FlowCurves(Configuration& c)
      : model_(GaussianModel::from(c)),
        order_(ridge_order(c)),
        start_(start_of(c, model_.problem().sites())),
        flow_(start_.size() > 0 ? GaussianFlow(model_.problem(), order_, start_)
                                : GaussianFlow(model_.problem(), order_)),
        ridge_(model_.problem(), order_),
        sizes_(model_.sizes(with_distinct_ratios(c, model_.inputs()))),
        times_(ascending(c.reals("sim.times"))),
        data_sets_(c.integer("sim.data_sets")),
        ends_([this] {
          std::vector<bool> all;
          for (std::size_t k = 0; k < sizes_.count(); ++k) {
            const auto samples = static_cast<double>(sizes_[k]);
            all.push_back(start_.size() == 0 &&
                          ridge_.average(samples, 0).status == RidgeStatus::converged);
          }
          return all;
        }) {
    constexpr double kLatest = 1e60;
    require(absolute(times_.back()) * model_.problem().mean_eigenvalue() <= kLatest,
            "sim.times",
            times_.back(),
            fmt::format("at most {:g} inverse mean eigenvalues of the covariance", kLatest));
    diagnostics_ = model_.diagnostics();
    warnings_ = joined_lines(model_.warnings(), rounded_ratios(c, sizes_));
  }

  void require_simulable() const override { require_distinct_samples(sizes_); }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kLineTimes = 59;
    std::vector<double> times = times_;
    const auto positive = std::upper_bound(times_.begin(), times_.end(), 0.0);
    if (positive != times_.end()) {
      times = line_through({positive, times_.end()}, kLineTimes, AxisScale::log, grid);
      times.insert(times.begin(), times_.begin(), positive);
    }
    std::vector<ResidualFilter> filters;
    for (const double time : times) filters.push_back(flow_filter(absolute(time)));
    TheoryResult result;
    const std::vector<double> alphas = sizes_.alphas(grid);
    const auto parts = parallel_map(alphas, [&](double alpha) {
      TheoryResult part;
      add_curves(alpha, times, filters, part);
      return part;
    });
    for (const TheoryResult& part : parts) {
      for (const Prediction& one : part.predictions) result.predictions.push_back(one);
      for (const std::string& warning : part.warnings) result.warnings.push_back(warning);
    }
    const MatrixXd population = population_errors(model_.problem(), filters);
    Curves infinite({}, "time", {"population_error"});
    for (std::size_t k = 0; k < times.size(); ++k) {
      infinite.add(times[k],
                   {start_.size() > 0 ? flow_.population_error(filters[k])
                                      : population.col(static_cast<Index>(k)).mean()});
    }
    infinite.into(result);
    return result;
  }

  std::size_t points() const override { return sizes_.count(); }

 protected:
  /// An eigendecomposition, and a product of L x L matrices for every time.
  double flops(std::size_t) const override {
    constexpr double kSmallMatrices = 4;  // their slower pace
    constexpr double kDecomposition = 10;
    const auto l = static_cast<double>(model_.problem().sites());
    return static_cast<double>(data_sets_) * kSmallMatrices * l * l * l *
           (kDecomposition + 3 * static_cast<double>(times_.size()));
  }

  Outcome run(const Replicate& replicate) const override {
    std::vector<double> times;
    for (const double time : times_) times.push_back(absolute(time));
    RandomStream stream = replicate.stream();
    TrainingErrors errors;
    double ridgeless = 0;
    const double share = 1 / static_cast<double>(data_sets_);
    for (std::int64_t set = 0; set < data_sets_; ++set) {
      const MatrixXd data = model_.samples(sizes_[replicate.point()], stream);
      const TrainingErrors one = gradient_flow(model_.problem(), data, times, start_);
      errors.test =
          set == 0 ? MatrixXd(share * one.test) : MatrixXd(errors.test + share * one.test);
      errors.train =
          set == 0 ? MatrixXd(share * one.train) : MatrixXd(errors.train + share * one.train);
      if (ends_.get()[replicate.point()]) {
        ridgeless += share * RidgeFits(data, model_.factor()).fit(0).test.mean();
      }
    }
    Curves curves = errors_at(sizes_.alpha(replicate.point()));
    for (std::size_t k = 0; k < times.size(); ++k) {
      const auto column = static_cast<Index>(k);
      curves.add(times_[k], {errors.test.col(column).mean(), errors.train.col(column).mean()});
    }
    Outcome outcome;
    curves.into(outcome);
    if (ends_.get()[replicate.point()]) {
      add_constant(
          outcome, "ridgeless_error", ridgeless, {{"alpha", sizes_.alpha(replicate.point())}});
    }
    return outcome;
  }

 private:
  /// Part of a curve's largest train error within which its smallest are compared: what the scatter
  /// of labels leaves of a mean over 600 data sets.
  static constexpr double kTrainShare = 1e-3;

  static MatrixXd start_of(const Configuration& c, Index sites) {
    const auto file = StartFile::of(c, {"A"});
    if (!file) return {};
    MatrixXd start = file->matrix("A", {sites, "sites"}, {sites, "sites"});
    start.diagonal().setZero();
    return start;
  }
  double absolute(double time) const { return time / model_.absolute_lambda(1); }
  static Curves errors_at(double alpha) {
    return {{{"alpha", alpha}}, "time", {"test_error", "train_error"}};
  }

  void add_curves(double alpha,
                  const std::vector<double>& times,
                  const std::vector<ResidualFilter>& filters,
                  TheoryResult& result) const {
    const double samples = sizes_.samples(alpha);
    const std::vector<FlowPoint> curve = flow_.average(samples, filters);
    Curves test_errors({{"alpha", alpha}}, "time", {"test_error"});
    Curves train_errors({{"alpha", alpha}}, "time", {"train_error"});
    std::size_t rough = 0;
    for (std::size_t k = 0; k < times.size(); ++k) {
      const FlowPoint& p = curve[k];
      if (p.status != FlowStatus::converged) ++rough;
      const auto [test, train] = allowances(p, samples, times[k]);
      PredictedValue test_error = test_error_value(order_, p.test_error, test, p.numerical_error);
      PredictedValue train_error =
          train_error_value(order_, p.train_error, p.test_error, train, p.numerical_error);
      // Beneath, single data sets differ by more than the error itself: the mean hangs on the few
      // whose smallest eigenvalue is small.
      constexpr double kSmallestTrainShare = 0.03;
      if (p.train_error < kSmallestTrainShare * p.test_error) train_error.compared = false;
      if (times[k] == 0) test_error.compared = train_error.compared = false;  // nothing is learnt
      test_errors.add(times[k], {test_error});
      train_errors.add(times[k], {train_error});
    }
    test_errors.into(result);
    train_errors.allow_share(kTrainShare).into(result);
    if (rough > 0) {
      result.warnings.push_back(fmt::format(
          "alpha = {}: the contour integral has not settled to 1e-9 at {} of {} times; the "
          "remaining error is part of the margin",
          alpha,
          rough,
          times.size()));
    }
    const RidgePoint ridgeless = ridge_.average(samples, 0);
    if (start_.size() == 0 && ridgeless.status == RidgeStatus::converged) {
      const double allowance = model_.from_data() ? 0 : ridgeless.finite_size_test;
      add_constant(result,
                   "ridgeless_error",
                   test_error_value(order_, ridgeless.test_error, allowance),
                   {{"alpha", alpha}});
    }
  }

  struct Allowances {
    double test = 0;
    double train = 0;
  };
  Allowances allowances(const FlowPoint& point, double samples, double time) const {
    if (model_.from_data() || time == 0) return {};  // on data the margin is the claim itself
    if (order_ == RidgeOrder::first) return {point.finite_size_test, point.finite_size_train};
    // Stopping at time t smooths as the penalty 1/t does.
    const RidgePoint alike = ridge_.average(samples, 1 / absolute(time));
    if (start_.size() == 0) return {alike.finite_size_test, alike.finite_size_train};
    // As a share, of an error that a start makes larger.
    const auto share = [](double allowance, double error) {
      return error > 0 ? allowance / error : 0.0;
    };
    return {share(alike.finite_size_test, alike.test_error) * point.test_error,
            share(alike.finite_size_train, alike.train_error) * point.train_error};
  }

  GaussianModel model_;
  RidgeOrder order_;
  MatrixXd start_;  ///< of A; empty: 0
  GaussianFlow flow_;
  GaussianRidge ridge_;
  SampleSizes sizes_;
  std::vector<double> times_;  ///< rising
  std::int64_t data_sets_;
  Lazy<std::vector<bool>> ends_;  ///< whether the error at late times has a mean
};

}  // namespace

Study study() { return described({.name = "gauss-flow", .make = make<FlowCurves>}); }

}  // namespace attica::gauss_flow
