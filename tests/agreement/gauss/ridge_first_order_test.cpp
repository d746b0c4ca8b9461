// Ridge regression and gradient flow to order 1/M against data sets drawn at random: sizes and
// spectra that played no part in choosing the allowances.

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/sim/gauss/flow.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/theory/gauss/flow.hpp"
#include "attica/theory/gauss/ridge.hpp"

using namespace attica;

namespace gauss_ridge_first_order_test {

class Average {
 public:
  void add(double x) {
    ++n_;
    const double step = x - mean_;
    mean_ += step / n_;
    squares_ += step * (x - mean_);
  }
  double mean() const { return mean_; }
  double sem() const { return std::sqrt(squares_ / (n_ * (n_ - 1))); }

 private:
  double n_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

/// Standard errors by which the mean lies outside `value` ± `allowance`; 0 if inside.
double outside(const Average& measured, double value, double allowance) {
  return std::max(0.0, std::abs(measured.mean() - value) - allowance) / measured.sem();
}

RandomStream data_stream(Eigen::Index samples, std::uint64_t replicate) {
  return RandomStream({.seed = 901,
                       .id = StreamId::data,
                       .point = static_cast<std::uint64_t>(samples),
                       .replicate = replicate});
}

struct Quantity {
  const char* name;
  double RidgePoint::*value;
  double RidgePoint::*allowance;
  Eigen::VectorXd RidgeFit::*measured;
};

constexpr std::array<Quantity, 5> kQuantities = {{
    {"test_error", &RidgePoint::test_error, &RidgePoint::finite_size_test, &RidgeFit::test},
    {"train_error", &RidgePoint::train_error, &RidgePoint::finite_size_train, &RidgeFit::train},
    {"overlap_m", &RidgePoint::overlap_m, &RidgePoint::finite_size_overlap_m, &RidgeFit::overlap_m},
    {"overlap_q", &RidgePoint::overlap_q, &RidgePoint::finite_size_overlap_q, &RidgeFit::overlap_q},
    {"weight_norm2",
     &RidgePoint::weight_norm2,
     &RidgePoint::finite_size_weight_norm2,
     &RidgeFit::weight_norm2},
}};

struct Family {
  std::string name;
  GaussianMlm problem;
};

std::vector<Family> families() {
  RandomStream stream({.seed = 17, .id = StreamId::model});
  // A power law of eigenvalues behind random directions.
  constexpr Eigen::Index kSites = 23;
  Eigen::MatrixXd loadings = Eigen::MatrixXd::NullaryExpr(
      kSites, 2 * kSites, [&](Eigen::Index, Eigen::Index) { return stream.normal(); });
  for (Eigen::Index k = 0; k < kSites; ++k) loadings.col(k) *= 4.0 / static_cast<double>(k + 1);
  return {{"ar1", GaussianMlm(ar1_covariance(27, 0.5))},
          {"equi", GaussianMlm(equi_covariance(17, 0.3))},
          {"precision", GaussianMlm(precision_covariance({.sites = 21}, stream))},
          {"loadings", GaussianMlm(loadings * loadings.transpose())}};
}

TEST_CASE("GaussianRidge: to order 1/M within its allowance, the peak included",
          "[agreement][ridge]") {
  constexpr std::uint64_t kReplicates = 3000;
  constexpr double kStandardErrors = 4.5;  // about 700 numbers
  const std::vector<double> lambdas = {0.002, 0.05, 0.4};
  int leading_outside = 0;
  int compared = 0;
  for (const Family& family : families()) {
    const GaussianRidge first(family.problem, RidgeOrder::first);
    const GaussianRidge leading(family.problem);
    const Eigen::MatrixXd factor = family.problem.factor();
    const auto inputs = static_cast<double>(family.problem.sites() - 1);
    for (const double alpha : {0.45, 0.8, 1.0, 1.3, 3.0}) {
      const auto samples = static_cast<Eigen::Index>(std::lround(alpha * inputs));
      const auto m = static_cast<double>(samples);
      std::vector<std::array<Average, kQuantities.size()>> measured(lambdas.size());
      for (std::uint64_t replicate = 1; replicate <= kReplicates; ++replicate) {
        RandomStream stream = data_stream(samples, replicate);
        const RidgeFits fits(gaussian_samples(factor, true, samples, stream), factor);
        for (std::size_t l = 0; l < lambdas.size(); ++l) {
          const RidgeFit fit = fits.fit(lambdas[l] * family.problem.mean_eigenvalue());
          for (std::size_t k = 0; k < kQuantities.size(); ++k) {
            measured[l][k].add((fit.*kQuantities[k].measured).mean());
          }
        }
      }
      for (std::size_t l = 0; l < lambdas.size(); ++l) {
        const double lambda = lambdas[l] * family.problem.mean_eigenvalue();
        const RidgePoint point = first.average(m, lambda);
        const RidgePoint old = leading.average(m, lambda);
        for (std::size_t k = 0; k < kQuantities.size(); ++k) {
          const Quantity& quantity = kQuantities[k];
          INFO(family.name << ' ' << quantity.name << " alpha " << alpha << " lambda "
                           << lambdas[l]);
          const double value = point.*quantity.value;
          const double allowance = point.*quantity.allowance;
          CAPTURE(value, allowance, old.*quantity.value, measured[l][k].mean());
          CHECK(outside(measured[l][k], value, allowance) < kStandardErrors);
          // The same allowance around the leading order would not do.
          leading_outside +=
              outside(measured[l][k], old.*quantity.value, allowance) > kStandardErrors ? 1 : 0;
          ++compared;
        }
        // Not wider than needed: where the expansion is good, 2 % of the error at most.
        if (m * old.one_minus_gamma >= 20) {
          CHECK(point.finite_size_test <= 0.01 * point.test_error);
          CHECK(point.finite_size_train <= 0.01 * point.train_error);
        }
      }
    }
  }
  CAPTURE(compared);
  CHECK(leading_outside > compared / 5);
}

TEST_CASE("GaussianRidge: one site's deviations at leading and at first order",
          "[agreement][ridge]") {
  // In per cent of the simulation, 4000 data sets each in an independent implementation.
  struct Row {
    Eigen::Index inputs;
    double rho;
    Eigen::Index samples;
    double lambda;
    std::array<double, 2> test;   // leading, first
    std::array<double, 2> train;  // (0 where there is nothing to see)
  };
  const std::vector<Row> rows = {
      {40, 0.7, 20, 0.001, {-2.9, -0.1}, {-17, -3.2}},
      {40, 0.7, 20, 0.1, {-1.1, -0.1}, {-6.4, -0.1}},
      {40, 0.7, 40, 0.001, {-1.3, -1.1}, {-16, 3.5}},
      {40, 0.7, 80, 0.001, {-1.2, -0.04}, {0, 0}},
      {20, 0.3, 10, 0.1, {-1.4, 0.1}, {-18, -1.4}},
      {20, 0.3, 20, 0.001, {-6.8, -7.4}, {-29, 21}},
      {20, 0.3, 20, 0.1, {0.3, -0.1}, {-4.9, 0.8}},
      {20, 0.3, 40, 0.001, {-2.5, -0.1}, {0, 0}},
  };
  constexpr std::uint64_t kReplicates = 4000;
  for (const Row& row : rows) {
    const GaussianMlm problem(ar1_covariance(row.inputs + 1, row.rho));
    const Eigen::MatrixXd factor = problem.factor();
    const Eigen::Index site = row.inputs / 2;
    Average test;
    Average train;
    for (std::uint64_t replicate = 1; replicate <= kReplicates; ++replicate) {
      RandomStream stream = data_stream(row.samples, replicate);
      const RidgeFits fits(gaussian_samples(factor, true, row.samples, stream), factor);
      const RidgeFit fit = fits.fit(row.lambda);
      test.add(fit.test[site]);
      train.add(fit.train[site]);
    }
    const auto samples = static_cast<double>(row.samples);
    for (std::size_t order = 0; order < 2; ++order) {
      const GaussianRidge ridge(problem, order == 0 ? RidgeOrder::leading : RidgeOrder::first);
      const RidgeSite theory = ridge.site(site, samples, row.lambda);
      INFO("n " << row.inputs << " M " << row.samples << " lambda " << row.lambda << " order "
                << order);
      // Both simulations err: four standard errors of their difference, and the table's rounding.
      const auto check = [&](const Average& measured, double value, double per_cent) {
        const double error = 4 * std::sqrt(2.0) * measured.sem() / measured.mean();
        const double rounding = 0.005 * std::max(0.2, std::abs(per_cent) / 5);
        CHECK(std::abs(value / measured.mean() - 1 - per_cent / 100) < error + rounding);
      };
      check(test, theory.test_error, row.test[order]);
      check(train, theory.train_error, row.train[order]);
    }
  }
}

TEST_CASE("GaussianFlow: to order 1/M nearer to the simulation than the leading order",
          "[agreement][flow]") {
  constexpr std::uint64_t kReplicates = 1200;
  const GaussianMlm problem(ar1_covariance(17, 0.6));
  const Eigen::MatrixXd factor = problem.factor();
  const std::vector<double> times = {1, 4, 15, 60};
  std::vector<ResidualFilter> filters;
  for (const double t : times) filters.push_back(flow_filter(t));
  int leading_outside = 0;
  for (const Eigen::Index samples : {9, 16, 30}) {
    std::vector<std::array<Average, 2>> measured(times.size());
    for (std::uint64_t replicate = 1; replicate <= kReplicates; ++replicate) {
      RandomStream stream = data_stream(samples, replicate);
      const TrainingErrors errors =
          gradient_flow(problem, gaussian_samples(factor, true, samples, stream), times);
      for (std::size_t k = 0; k < times.size(); ++k) {
        measured[k][0].add(errors.test.col(static_cast<Eigen::Index>(k)).mean());
        measured[k][1].add(errors.train.col(static_cast<Eigen::Index>(k)).mean());
      }
    }
    const auto m = static_cast<double>(samples);
    const std::vector<FlowPoint> first =
        GaussianFlow(problem, RidgeOrder::first).average(m, filters);
    const std::vector<FlowPoint> leading = GaussianFlow(problem).average(m, filters);
    for (std::size_t k = 0; k < times.size(); ++k) {
      INFO("M " << samples << " t " << times[k]);
      const double test = first[k].finite_size_test;
      const double train = first[k].finite_size_train;
      CAPTURE(test, train, first[k].test_error, first[k].train_error);
      CHECK(outside(measured[k][0], first[k].test_error, test) < 4);
      if (first[k].train_error >= 0.01 * first[k].test_error) {
        CHECK(outside(measured[k][1], first[k].train_error, train) < 4);
      }
      leading_outside += outside(measured[k][0], leading[k].test_error, test) > 4 ? 1 : 0;
      leading_outside += outside(measured[k][1], leading[k].train_error, train) > 4 ? 1 : 0;
    }
  }
  CHECK(leading_outside >= 5);
}

}  // namespace gauss_ridge_first_order_test
