#include "attica/theory/gauss/flow.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/population_flow.hpp"
#include "attica/theory/gauss/site_regression.hpp"
#include "reference_values.hpp"
#include "theory/gauss/ridge_filter.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::reference_values;
using attica::testing::ridge_filter;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace gauss_flow_test {

FlowPoint one(const GaussianFlow& flow,
              Eigen::Index site,
              double samples,
              const ResidualFilter& filter) {
  return flow.site(site, samples, std::span(&filter, 1)).front();
}

/// The two-point deterministic equivalent as it stands, with the explicit spectrum of C_i, on a
/// plain circle in the κ plane through κ(λ = δ): shares nothing with GaussianFlow.
struct DirectContour {
  using Complex = std::complex<double>;
  SiteRegression site;
  double samples;

  double test_error(const ResidualFilter& filter, double right, double left, int nodes) const {
    const Eigen::ArrayXd& s = site.s;
    const Eigen::ArrayXd v2 = site.teacher.array().square();
    std::vector<Complex> kappa, weight;
    Complex noise = 0;
    for (int j = 0; j < nodes; ++j) {
      const Complex turn = std::polar(1.0, 2 * std::numbers::pi * (j + 0.5) / nodes);
      const Complex k = 0.5 * (left + right) + 0.5 * (right - left) * turn;
      const Eigen::ArrayXcd r = 1.0 / (s.cast<Complex>() + k);
      const Complex z = -k * (1.0 - (s * r).sum() / samples);
      const Complex dz = -(1.0 - (s.square() * r.square()).sum() / samples) * 0.5 * (right - left) *
                         turn / static_cast<double>(nodes);
      const Complex f = filter.value(z);
      kappa.push_back(k);
      weight.push_back(f * k / z * dz);
      noise += (1.0 - f) * (1.0 - f) / z * k / z * dz;
    }
    Complex signal = 0;
    for (std::size_t j = 0; j < kappa.size(); ++j) {
      for (std::size_t l = 0; l < kappa.size(); ++l) {
        const Eigen::ArrayXcd pair =
            1.0 / ((s.cast<Complex>() + kappa[j]) * (s.cast<Complex>() + kappa[l]));
        signal += weight[j] * weight[l] * (s * v2 * pair).sum() /
                  (1.0 - (s.square() * pair).sum() / samples);
      }
    }
    return site.bayes_error * (1 + noise.real()) + signal.real();
  }
};

TEST_CASE("GaussianFlow: reference values of gradient flow", "[theory][flow]") {
  const Reference entry = reference_values("potts").at("gf_rmt");
  const GaussianFlow flow{GaussianMlm(ar1_covariance(40, 0.6))};
  const Eigen::Index site = entry.at("site");
  for (const auto c : entry.at("cases")) {
    const ResidualFilter filter = flow_filter(c.at("t"));
    const FlowPoint point = one(flow, site, c.at("M"), filter);
    INFO(c.dump());
    CHECK(point.status == FlowStatus::converged);
    CHECK_THAT(point.test_error, WithinRel(c.at("test").get<double>(), 1e-9));
    CHECK_THAT(point.train_error, WithinAbs(c.at("train").get<double>(), 1e-9));
    CHECK_THAT(point.signal_error, WithinAbs(c.at("bias").get<double>(), 1e-9));
    CHECK_THAT(point.noise_error, WithinAbs(c.at("var").get<double>(), 1e-9));
  }
}

TEST_CASE("GaussianFlow: reference values of gradient descent", "[theory][flow]") {
  const GaussianFlow flow{GaussianMlm(ar1_covariance(40, 0.6))};
  for (const auto c : reference_values("potts").at("gd_rmt")) {
    const ResidualFilter filter = descent_filter(c.at("eta"), c.at("steps"));
    const FlowPoint point = one(flow, 13, c.at("M"), filter);
    CHECK(point.status == FlowStatus::converged);
    CHECK_THAT(point.test_error, WithinRel(c.at("test").get<double>(), 1e-9));
    CHECK_THAT(point.train_error, WithinAbs(c.at("train").get<double>(), 1e-9));
  }
}

TEST_CASE("GaussianFlow: agrees with the two-point formula on the explicit spectrum",
          "[theory][flow]") {
  RandomStream stream({.seed = 3, .id = StreamId::model});
  const GaussianMlm problem(precision_covariance({.sites = 14}, stream));
  const GaussianFlow flow(problem);
  for (const double samples : {6.0, 13.0, 40.0}) {
    const DirectContour direct{site_regression(problem, 4), samples};
    const double smallest = 0.2;  // z at the right end of the circle is about -smallest
    const double right = ridge_site(problem, 4, samples, smallest).kappa;
    // Left of the spectrum far enough that df2 < M for every M used here.
    const double left = -problem.eigenvalues().maxCoeff() * 3.0;
    for (const double time : {0.5, 3.0}) {
      const double expected = direct.test_error(flow_filter(time), right, left, 160);
      CHECK_THAT(one(flow, 4, samples, flow_filter(time)).test_error, WithinRel(expected, 1e-8));
    }
  }
}

TEST_CASE("GaussianFlow: limits in time", "[theory][flow]") {
  const GaussianMlm problem(ar1_covariance(24, 0.7));
  const GaussianFlow flow(problem);
  for (const double samples : {8.0, 15.5, 50.0}) {
    INFO("samples " << samples);
    // t = 0: nothing is learnt.
    const FlowPoint start = one(flow, 5, samples, flow_filter(0));
    CHECK_THAT(start.test_error, WithinRel(1.0, 1e-10));
    CHECK_THAT(start.train_error, WithinRel(1.0, 1e-10));
    // t -> infinity: the minimum-norm solution.
    const RidgeSite ridgeless = ridge_site(problem, 5, samples, 0);
    const FlowPoint end = one(flow, 5, samples, flow_filter(1e6));
    CHECK(end.status == FlowStatus::converged);
    CHECK_THAT(end.test_error, WithinRel(ridgeless.test_error, 1e-8));
    CHECK_THAT(end.train_error, WithinAbs(ridgeless.train_error, 1e-8));
  }
}

TEST_CASE("GaussianFlow: the filter of ridge regression gives the ridge theory", "[theory][flow]") {
  const GaussianMlm problem(ar1_covariance(24, 0.7));
  const GaussianFlow flow(problem);
  for (const double samples : {8.0, 23.0, 50.0}) {
    for (const double lambda : {0.05, 1.0}) {
      const RidgeSite expected = ridge_site(problem, 11, samples, lambda);
      const FlowPoint point = one(flow, 11, samples, ridge_filter(lambda));
      INFO("samples " << samples << " lambda " << lambda);
      CHECK(point.status == FlowStatus::converged);
      CHECK_THAT(point.test_error, WithinRel(expected.test_error, 1e-9));
      CHECK_THAT(point.train_error, WithinRel(expected.train_error, 1e-8));
      CHECK_THAT(point.noise_error, WithinAbs(expected.noise_variance, 1e-9));
    }
  }
}

TEST_CASE("GaussianFlow: to order 1/M, ridge regression and its limit without penalty",
          "[theory][flow]") {
  // The two-point function comes from integration by parts, the ridge errors from derivatives of
  // the one-point function: they share only the moments.
  const GaussianMlm problem(ar1_covariance(24, 0.7));
  const GaussianFlow flow(problem, RidgeOrder::first);
  for (const double samples : {8.0, 23.0, 50.0}) {
    for (const double lambda : {0.05, 1.0}) {
      const RidgeSite expected = ridge_site(problem, 11, samples, lambda, RidgeOrder::first);
      const FlowPoint point = one(flow, 11, samples, ridge_filter(lambda));
      INFO("samples " << samples << " lambda " << lambda);
      CHECK(point.status == FlowStatus::converged);
      CHECK_THAT(point.test_error, WithinRel(expected.test_error, 1e-9));
      CHECK_THAT(point.train_error, WithinRel(expected.train_error, 1e-8));
      CHECK_THAT(point.noise_error, WithinAbs(expected.noise_variance, 1e-9));
    }
  }
  for (const double samples : {8.0, 50.0}) {
    const RidgeSite ridgeless = ridge_site(problem, 5, samples, 0, RidgeOrder::first);
    const FlowPoint end = one(flow, 5, samples, flow_filter(1e6));
    INFO("samples " << samples);
    CHECK(end.status == FlowStatus::converged);
    CHECK_THAT(end.test_error, WithinRel(ridgeless.test_error, 1e-8));
    CHECK_THAT(end.train_error, WithinAbs(ridgeless.train_error, 1e-8));
    const FlowPoint start = one(flow, 5, samples, flow_filter(0));
    CHECK_THAT(start.test_error, WithinRel(1.0, 1e-10));
    CHECK_THAT(start.train_error, WithinRel(1.0, 1e-10));
  }
}

TEST_CASE("GaussianFlow: to order 1/M, the first step of gradient descent is known exactly",
          "[theory][flow]") {
  // One step of rate η: w = η r̂, r̂ = Xᵀy/M. Of Gaussian fourth moments, with b = C w*:
  //   E r̂ = b,  Cov r̂ = (bbᵀ + Σ_ii C)/M,  so E_test = Σ_ii - 2η|b|² + η² (bᵀCb
  //   + (bᵀCb + Σ_ii tr C²)/M).
  const GaussianMlm problem(ar1_covariance(9, 0.6));
  const Eigen::Index site = 3;
  const SiteRegression regression = site_regression(problem, site);
  const Eigen::ArrayXd b = regression.s * regression.teacher.array();
  const double quadratic = (regression.s * b.square()).sum();
  const double eta = 0.05;
  for (const double samples : {6.0, 20.0}) {
    const double expected =
        1 - 2 * eta * b.square().sum() +
        eta * eta * (quadratic + (quadratic + regression.s.square().sum()) / samples);
    const FlowPoint point =
        one(GaussianFlow(problem, RidgeOrder::first), site, samples, descent_filter(eta, 1));
    CHECK_THAT(point.test_error, WithinRel(expected, 1e-9));
  }
}

TEST_CASE("GaussianFlow: infinitely many samples give the population flow", "[theory][flow]") {
  const GaussianMlm problem(ar1_covariance(16, 0.6));
  const GaussianFlow flow(problem);
  const std::vector<ResidualFilter> filters{flow_filter(0.3), flow_filter(2), flow_filter(20)};
  const Eigen::MatrixXd population = population_errors(problem, filters);
  const double samples = 1e7;
  const std::vector<FlowPoint> points = flow.site(3, samples, filters);
  for (std::size_t k = 0; k < points.size(); ++k) {
    CHECK(points[k].status == FlowStatus::converged);
    // The correction is of order N/M = 1.5e-6.
    CHECK_THAT(points[k].test_error, WithinAbs(population(3, static_cast<Eigen::Index>(k)), 1e-5));
  }
}

TEST_CASE("GaussianFlow: many small steps of descent are the flow; too large ones are refused",
          "[theory][flow]") {
  const GaussianMlm problem(ar1_covariance(20, 0.5));
  const GaussianFlow flow(problem);
  const double exact = one(flow, 2, 12, flow_filter(2)).test_error;
  const double coarse = one(flow, 2, 12, descent_filter(0.01, 200)).test_error - exact;
  const double fine = one(flow, 2, 12, descent_filter(0.005, 400)).test_error - exact;
  CHECK_THAT(coarse / fine, WithinAbs(2, 0.02));  // first order in eta
  CHECK(one(flow, 2, 12, descent_filter(1.5, 3)).status == FlowStatus::unstable);
}

TEST_CASE("GaussianFlow: a singular covariance is the limit of regular ones", "[theory][flow]") {
  // Site 3 = (site 0 + site 1)/sqrt(2) up to an independent part of variance `rest`.
  const auto covariance = [](double rest) {
    Eigen::MatrixXd sigma = ar1_covariance(8, 0.4);
    Eigen::VectorXd mix = Eigen::VectorXd::Zero(8);
    mix[0] = mix[1] = std::numbers::sqrt2 / 2;
    Eigen::MatrixXd map = Eigen::MatrixXd::Identity(8, 8);
    map.row(3) = mix.transpose();
    Eigen::MatrixXd result = map * sigma * map.transpose();
    result(3, 3) += rest;
    return result;
  };
  const GaussianFlow singular{GaussianMlm(covariance(0), Definiteness::semi_positive)};
  const GaussianFlow regular{GaussianMlm(covariance(1e-9))};
  for (const Eigen::Index site : {0, 3, 6}) {
    for (const double time : {0.5, 10.0}) {
      const FlowPoint a = one(singular, site, 5, flow_filter(time));
      const FlowPoint b = one(regular, site, 5, flow_filter(time));
      INFO("site " << site << " time " << time);
      CHECK(a.status == FlowStatus::converged);
      CHECK_THAT(a.test_error, WithinAbs(b.test_error, 1e-7));
      CHECK_THAT(a.train_error, WithinAbs(b.train_error, 1e-7));
    }
  }
}

TEST_CASE("GaussianFlow: averages are means over sites", "[theory][flow][slow]") {
  // The average integrates on contours that the sites share, a site on its own: they agree to the
  // 1e-9 to which both settle.
  RandomStream stream({.seed = 5, .id = StreamId::model});
  Eigen::MatrixXd determined = ar1_covariance(7, 0.4);  // site 3 = (site 0 + site 1)/sqrt(2)
  Eigen::MatrixXd map = Eigen::MatrixXd::Identity(7, 7);
  map.row(3) << std::numbers::sqrt2 / 2, std::numbers::sqrt2 / 2, 0, 0, 0, 0, 0;
  determined = map * determined * map.transpose();
  const Eigen::VectorXd scales = Eigen::VectorXd::LinSpaced(7, 0.3, 3);
  const std::vector<GaussianMlm> problems{
      GaussianMlm(ar1_covariance(7, 0.5)),
      GaussianMlm(equi_covariance(7, 0.3)),
      GaussianMlm(precision_covariance({.sites = 7}, stream)),
      GaussianMlm(scales.asDiagonal() * ar1_covariance(7, 0.7) * scales.asDiagonal()),
      GaussianMlm(determined, Definiteness::semi_positive)};
  const std::vector<ResidualFilter> filters{
      flow_filter(4), flow_filter(0.5), flow_filter(0), flow_filter(300), descent_filter(0.02, 30)};
  for (std::size_t p = 0; p < problems.size(); ++p) {
    for (const RidgeOrder order : {RidgeOrder::leading, RidgeOrder::first}) {
      const GaussianFlow flow(problems[p], order);
      for (const double samples : {3.5, 6.0, 40.0}) {
        const std::vector<FlowPoint> mean = flow.average(samples, filters);
        for (std::size_t k = 0; k < filters.size(); ++k) {
          FlowPoint sum;
          for (Eigen::Index i = 0; i < 7; ++i) {
            const FlowPoint site = one(flow, i, samples, filters[k]);
            sum.test_error += site.test_error / 7;
            sum.train_error += site.train_error / 7;
            sum.signal_error += site.signal_error / 7;
            sum.noise_error += site.noise_error / 7;
          }
          INFO("problem " << p << " order " << static_cast<int>(order) << " samples " << samples
                          << " filter " << k);
          CHECK(mean[k].status == FlowStatus::converged);
          const double allowed = 1e-9 * std::abs(sum.test_error) + 1e-13;
          CHECK_THAT(mean[k].test_error, WithinAbs(sum.test_error, allowed));
          CHECK_THAT(mean[k].train_error, WithinAbs(sum.train_error, allowed));
          CHECK_THAT(mean[k].signal_error, WithinAbs(sum.signal_error, allowed));
          CHECK_THAT(mean[k].noise_error, WithinAbs(sum.noise_error, allowed));
        }
      }
    }
  }
}

TEST_CASE("GaussianFlow: the average's allowance is half the square of its first order, or ridge's",
          "[theory][flow]") {
  const GaussianMlm problem(ar1_covariance(12, 0.6));
  const double samples = 20;
  const double time = 3;
  const ResidualFilter filter = flow_filter(time);
  const auto average = [&](RidgeOrder order) {
    return GaussianFlow(problem, order).average(samples, std::span(&filter, 1)).front();
  };
  const FlowPoint leading = average(RidgeOrder::leading);
  const FlowPoint first = average(RidgeOrder::first);
  const RidgePoint ridge = GaussianRidge(problem, RidgeOrder::first).average(samples, 1 / time);
  const double change = first.test_error - leading.test_error;
  CHECK_THAT(first.finite_size_test,
             WithinRel(std::max(change * change / (2 * leading.test_error),
                                ridge.finite_size_test / ridge.test_error * leading.test_error),
                       1e-6));  // the change is a difference of errors
  CHECK(leading.finite_size_test == 0);
}

TEST_CASE("GaussianFlow: a start at 0 is none, one at the teacher has nothing to learn",
          "[theory][flow]") {
  const GaussianMlm problem(ar1_covariance(9, 0.6));
  const std::vector<ResidualFilter> filters = {flow_filter(0.5), flow_filter(8), flow_filter(200)};
  const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(9, 9);
  Eigen::MatrixXd teachers = zero;
  for (Eigen::Index i = 0; i < 9; ++i) {
    const SiteRegression site = site_regression(problem, i);
    const Eigen::VectorXd w = site.basis * site.teacher;
    for (std::size_t j = 0; j < site.inputs.size(); ++j)
      teachers(i, site.inputs[j]) = w[static_cast<Eigen::Index>(j)];
  }
  for (const RidgeOrder order : {RidgeOrder::leading, RidgeOrder::first}) {
    for (const double samples : {5.0, 25.0}) {
      const auto none = GaussianFlow(problem, order).average(samples, filters);
      const auto from_zero = GaussianFlow(problem, order, zero).average(samples, filters);
      const auto learnt = GaussianFlow(problem, order, teachers).average(samples, filters);
      for (std::size_t k = 0; k < filters.size(); ++k) {
        CHECK_THAT(from_zero[k].test_error, WithinRel(none[k].test_error, 1e-8));
        CHECK_THAT(from_zero[k].train_error, WithinRel(none[k].train_error, 1e-7));
        CHECK_THAT(learnt[k].signal_error, WithinAbs(0, 1e-10));
        CHECK_THAT(learnt[k].noise_error, WithinRel(none[k].noise_error, 1e-8));
      }
    }
  }
}

TEST_CASE("GaussianFlow: bad input is refused by name", "[theory][flow]") {
  const GaussianFlow flow{GaussianMlm(ar1_covariance(6, 0.5))};
  CHECK_THROWS_WITH(one(flow, 6, 4, flow_filter(1)), Catch::Contains("'site'"));
  CHECK_THROWS_WITH(one(flow, 0, 0.5, flow_filter(1)), Catch::Contains("'samples'"));
  CHECK_THROWS_WITH(flow_filter(-1), Catch::Contains("'time'"));
  CHECK_THROWS_WITH(descent_filter(0, 1), Catch::Contains("'eta'"));
  CHECK_THROWS_WITH(descent_filter(0.1, 1.5), Catch::Contains("'steps'"));
}

}  // namespace gauss_flow_test
