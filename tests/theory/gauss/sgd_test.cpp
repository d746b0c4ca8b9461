#include "attica/theory/gauss/sgd.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/random.hpp"
#include "attica/theory/gauss/population_flow.hpp"
#include "reference_values.hpp"
#include "theory/gauss/ridge_filter.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::reference_values;
using attica::testing::ridge_filter;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace gauss_sgd_test {

using Steps = std::vector<std::int64_t>;

TEST_CASE("online SGD: reference values of errors, steady state and eta_max", "[theory][sgd]") {
  const Reference entry = reference_values("potts").at("sgd_online");
  const GaussianMlm problem(ar1_covariance(10, 0.6));
  for (const auto c : entry.at("cases")) {
    const SgdParameters parameters{
        .eta = c.at("eta"), .batch = c.at("B"), .probability = c.at("p"), .lambda = c.at("lam")};
    const Steps steps = c.at("steps");
    std::vector<double> mean(steps.size());
    for (Eigen::Index i = 0; i < 10; ++i) {
      const std::vector<double> errors =
          online_sgd_errors(site_regression(problem, i), parameters, steps);
      for (std::size_t k = 0; k < steps.size(); ++k) {
        mean[k] += errors[k] / 10;
        if (i == 4) CHECK_THAT(errors[k], WithinRel(c.at("site4")[k].get<double>(), 1e-11));
      }
    }
    for (std::size_t k = 0; k < steps.size(); ++k) {
      CHECK_THAT(mean[k], WithinRel(c.at("mean")[k].get<double>(), 1e-11));
    }
    if (!c.contains("steady_site4")) continue;
    const SgdSteadyState steady = online_sgd_steady(site_regression(problem, 4), parameters);
    CHECK(steady.stable);
    CHECK_THAT(steady.error, WithinRel(c.at("steady_site4").get<double>(), 1e-11));
    CHECK_THAT(steady.chi, WithinRel(c.at("chi_site4").get<double>(), 1e-11));
  }
  for (const auto& [batch, eta_max] : entry.at("eta_max_site4").items()) {
    CHECK_THAT(online_sgd_eta_max(site_regression(problem, 4), {.batch = std::stod(batch)}),
               WithinRel(eta_max.get<double>(), 1e-10));
  }
}

/// Errors of online SGD at p = 1, λ = 0 by a Volterra equation for the excess error: with a_k =
/// (1-ηs_k)² + η²s_k²/B and K_τ = Σ s_k² a_k^τ,
///   R_t = Σ s_k a_k^t m_k(0) + (η²/B) Σ_{τ<t} K_{t-1-τ} (R_τ + σ²).
/// E_test at steps 0, 1 .. `last`
std::vector<double> online_sgd_errors_volterra(const SiteRegression& site,
                                               double eta,
                                               double batch,
                                               std::int64_t last) {
  const Eigen::ArrayXd& s = site.s;
  const Eigen::ArrayXd a = (1 - eta * s).square() + (eta * s).square() / batch;
  Eigen::ArrayXd power = Eigen::ArrayXd::Ones(s.size());  // a^t
  std::vector<double> free_decay, kernel, errors;
  for (std::int64_t t = 0; t <= last; ++t, power *= a) {
    free_decay.push_back((s * power * site.teacher.array().square()).sum());
    kernel.push_back((s.square() * power).sum());
  }
  for (std::size_t t = 0; t < free_decay.size(); ++t) {
    double memory = 0;
    for (std::size_t tau = 0; tau < t; ++tau) memory += kernel[t - 1 - tau] * errors[tau];
    errors.push_back(free_decay[t] + eta * eta / batch * memory + site.bayes_error);
  }
  return errors;
}

TEST_CASE("online SGD: the Volterra equation gives the same errors", "[theory][sgd]") {
  const SiteRegression site = site_regression(GaussianMlm(ar1_covariance(8, 0.7)), 2);
  const Steps steps{0, 1, 7, 60, 200};
  const std::vector<double> errors = online_sgd_errors(site, {.eta = 0.08, .batch = 3}, steps);
  const std::vector<double> volterra = online_sgd_errors_volterra(site, 0.08, 3, 200);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    CHECK_THAT(errors[k], WithinRel(volterra[static_cast<std::size_t>(steps[k])], 1e-12));
  }
}

TEST_CASE("online SGD: one step with masks and decay, by enumeration of the masks",
          "[theory][sgd]") {
  // Given w and the masks, with r = y - w·x and e = w - w*: E r x = -C e, and by Isserlis
  // E r² x xᵀ = (eᵀCe + σ²) C + 2 C e eᵀ C.
  const GaussianMlm problem(ar1_covariance(4, 0.5));
  const SiteRegression site = site_regression(problem, 1);
  const Eigen::MatrixXd c = problem.covariance()(site.inputs, site.inputs);
  const Eigen::VectorXd teacher = site.basis * site.teacher;
  const SgdParameters q{.eta = 0.3, .batch = 2, .probability = 0.4, .lambda = 0.2};
  // Second step from the deterministic first: start at w = 0 only, so one step.
  const Eigen::VectorXd e = -teacher;
  double expected = 0;
  for (int masks = 0; masks <= 2; ++masks) {
    const double weight = masks == 0 ? 0.36 : masks == 1 ? 0.48 : 0.16;
    // w' - w* = (1-ηλ)·0 - w* + (η/B) Σ r x
    const double rate = q.eta / q.batch;
    const Eigen::MatrixXd second =
        (e.dot(c * e) + site.bayes_error) * c + 2 * (c * e) * (c * e).transpose();
    const Eigen::MatrixXd moment =
        e * e.transpose() + rate * masks * (-(c * e) * e.transpose() - e * (c * e).transpose()) +
        rate * rate * (masks * second + masks * (masks - 1) * (c * e) * (c * e).transpose());
    expected += weight * (c * moment).trace();
  }
  const std::vector<double> errors = online_sgd_errors(site, q, Steps{0, 1});
  CHECK_THAT(errors[0], WithinRel(1.0, 1e-14));
  CHECK_THAT(errors[1], WithinRel(expected + site.bayes_error, 1e-13));
}

TEST_CASE("online SGD: limits", "[theory][sgd]") {
  const GaussianMlm problem(ar1_covariance(8, 0.6));
  const SiteRegression site = site_regression(problem, 3);
  // Large batches: gradient descent on the population loss.
  const std::vector<ResidualFilter> filters{descent_filter(0.2, 10)};
  const double descent = population_errors(problem, filters)(3, 0);
  CHECK_THAT(online_sgd_errors(site, {.eta = 0.2, .batch = 1e12}, Steps{10}).front(),
             WithinRel(descent, 1e-10));
  // With decay small steps reach ridge regression on infinitely many samples.
  const std::vector<ResidualFilter> decay{ridge_filter(0.3)};
  const double ridge = population_errors(problem, decay)(3, 0);
  const double small =
      online_sgd_errors(site, {.eta = 1e-4, .batch = 10, .lambda = 0.3}, Steps{400000}).front();
  CHECK_THAT(small, WithinRel(ridge, 1e-4));  // the sampling noise is of order eta/B
  // Late times reach the steady state, with masks too.
  for (const double p : {1.0, 0.125}) {
    const SgdParameters q{.eta = 0.1, .batch = 2, .probability = p};
    CHECK_THAT(online_sgd_errors(site, q, Steps{20000}).front(),
               WithinRel(online_sgd_steady(site, q).error, 1e-10));
  }
}

TEST_CASE("online SGD: stability", "[theory][sgd]") {
  const SiteRegression site = site_regression(GaussianMlm(ar1_covariance(8, 0.6)), 3);
  for (const double p : {1.0, 0.25}) {
    for (const double batch : {1.0, 8.0}) {
      for (const double lambda : {0.0, 0.4}) {
        SgdParameters q{.batch = batch, .probability = p, .lambda = lambda};
        const double eta_max = online_sgd_eta_max(site, q);
        INFO("p " << p << " batch " << batch << " lambda " << lambda << " eta_max " << eta_max);
        const auto late = [&](double share, std::int64_t steps) {
          q.eta = share * eta_max;
          return online_sgd_errors(site, q, Steps{steps}).front();
        };
        CHECK(late(0.98, 4000) < 1e6);
        CHECK(late(1.02, 2000) > 1.01 * late(1.02, 1000));
        if (lambda > 0) continue;
        q.eta = 0.98 * eta_max;
        CHECK(online_sgd_steady(site, q).stable);
        q.eta = 1.02 * eta_max;
        CHECK_FALSE(online_sgd_steady(site, q).stable);
      }
    }
  }
  const std::vector<double> unstable =
      online_sgd_errors(site, {.eta = 3}, Steps{0, 10, 5000, 6000});
  CHECK(std::isfinite(unstable[1]));
  CHECK(unstable[2] == std::numeric_limits<double>::infinity());
  CHECK(unstable[3] == std::numeric_limits<double>::infinity());
}

TEST_CASE("SGD with replacement: reference values", "[theory][sgd]") {
  const Reference entry = reference_values("potts").at("sgd_multipass_given_data");
  const Eigen::MatrixXd data =
      Eigen::MatrixXd::NullaryExpr(7, 5, [](Eigen::Index mu, Eigen::Index j) {
        const double m = static_cast<double>(mu), site = static_cast<double>(j);
        return std::sin(1 + 1.7 * m + 2.3 * site + 0.31 * m * site);
      });
  const GaussianMlm problem(ar1_covariance(5, 0.6));
  const std::vector<double> errors =
      data_sgd_errors(problem,
                      entry.at("site"),
                      data,
                      {.eta = entry.at("eta"), .batch = entry.at("B")},
                      entry.at("steps").get<Steps>());
  for (std::size_t k = 0; k < errors.size(); ++k) {
    CHECK_THAT(errors[k], WithinRel(entry.at("test")[k].get<double>(), 1e-11));
  }
}

TEST_CASE("SGD with replacement: mean over all batches by enumeration", "[theory][sgd]") {
  // Three samples, batches of two, two steps: 81 equally likely sequences.
  RandomStream stream({.seed = 8});
  const GaussianMlm problem(ar1_covariance(4, 0.5));
  const Eigen::MatrixXd data = Eigen::MatrixXd::NullaryExpr(3, 4, [&] { return stream.normal(); });
  const double eta = 0.3;
  const Eigen::Index site = 2;
  double mean = 0;
  for (int code = 0; code < 81; ++code) {
    Eigen::VectorXd row = Eigen::VectorXd::Zero(4);  // w with 0 at the site
    for (int step = 0, rest = code; step < 2; ++step) {
      Eigen::VectorXd gradient = Eigen::VectorXd::Zero(4);
      for (int b = 0; b < 2; ++b, rest /= 3) {
        const Eigen::VectorXd z = data.row(rest % 3).transpose();
        gradient += (z[site] - row.dot(z)) * z / 2;
      }
      gradient[site] = 0;
      row += eta * gradient;
    }
    Eigen::VectorXd residual = -row;
    residual[site] = 1;
    mean += residual.dot(problem.covariance() * residual) / 81;
  }
  CHECK_THAT(data_sgd_errors(problem, site, data, {.eta = eta, .batch = 2}, Steps{2}).front(),
             WithinRel(mean, 1e-12));
}

TEST_CASE("SGD with replacement: growth tells stable rates from unstable ones", "[theory][sgd]") {
  RandomStream stream({.seed = 9});
  const GaussianMlm problem(ar1_covariance(6, 0.5));
  for (const Eigen::Index samples : {3, 12}) {
    const Eigen::MatrixXd data =
        Eigen::MatrixXd::NullaryExpr(samples, 6, [&] { return stream.normal(); });
    // With one sample a step, E (1-ηxxᵀ)² = 1 - 2ηŜ + η² E|x|²xxᵀ: below 1 for small η, above for
    // large.
    const auto growth = [&](double eta) { return data_sgd_growth(data, 2, {.eta = eta}); };
    CHECK(growth(0.01) < 1);
    CHECK(growth(3.0) > 1);
    double low = 0.01, high = 3;
    for (int k = 0; k < 20; ++k) (growth((low + high) / 2) < 1 ? low : high) = (low + high) / 2;
    const auto late = [&](double eta) {
      return data_sgd_errors(problem, 2, data, {.eta = eta}, Steps{3000, 6000});
    };
    const std::vector<double> stable = late(0.95 * low), unstable = late(1.05 * high);
    CHECK(stable[1] < 2 * stable[0]);
    CHECK(unstable[1] > 10 * unstable[0]);
  }
}

TEST_CASE("SGD theories: bad input is refused by name", "[theory][sgd]") {
  const GaussianMlm problem(ar1_covariance(4, 0.5));
  const SiteRegression site = site_regression(problem, 0);
  CHECK_THROWS_WITH(online_sgd_errors(site, {.eta = 0}, Steps{1}), Catch::Contains("'eta'"));
  CHECK_THROWS_WITH(online_sgd_errors(site, {.batch = 0.5}, Steps{1}), Catch::Contains("'batch'"));
  CHECK_THROWS_WITH(online_sgd_errors(site, {.probability = 0}, Steps{1}),
                    Catch::Contains("'mask_probability'"));
  CHECK_THROWS_WITH(online_sgd_errors(site, {.lambda = -1}, Steps{1}), Catch::Contains("'lambda'"));
  CHECK_THROWS_WITH(online_sgd_errors(site, {}, Steps{2, 1}), Catch::Contains("'steps'"));
  CHECK_THROWS_WITH(online_sgd_steady(site, {.lambda = 1}), Catch::Contains("'lambda'"));
  CHECK_THROWS_WITH(data_sgd_errors(problem, 0, Eigen::MatrixXd::Zero(3, 5), {}, Steps{1}),
                    Catch::Contains("'data'"));
  CHECK_THROWS_WITH(
      data_sgd_errors(problem, 0, Eigen::MatrixXd::Zero(3, 4), {.probability = 0.5}, Steps{1}),
      Catch::Contains("'mask_probability'"));
}

TEST_CASE("SGD: averages over the sites", "[theory][sgd]") {
  const GaussianMlm problem(arrow_covariance(6, 0.8));
  const OnlineSgd sgd(problem);
  const SgdParameters q{.eta = 0.05, .batch = 2, .probability = 0.5};
  const Steps steps{0, 3, 40};
  const Eigen::MatrixXd data = Eigen::MatrixXd::Random(9, 6);
  const SgdParameters all{.eta = 0.05, .batch = 2};
  Eigen::Array3d online = Eigen::Array3d::Zero();
  Eigen::Array3d fixed = Eigen::Array3d::Zero();
  double error = 0, chi = 0, eta_max = 1e300, growth = 0;
  for (Eigen::Index i = 0; i < 6; ++i) {
    const SiteRegression site = site_regression(problem, i);
    online += Eigen::Map<const Eigen::Array3d>(online_sgd_errors(site, q, steps).data()) / 6;
    fixed +=
        Eigen::Map<const Eigen::Array3d>(data_sgd_errors(problem, i, data, all, steps).data()) / 6;
    error += online_sgd_steady(site, q).error / 6;
    chi = std::max(chi, online_sgd_steady(site, q).chi);
    eta_max = std::min(eta_max, online_sgd_eta_max(site, q));
    growth = std::max(growth, data_sgd_growth(data, i, all));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    CHECK(sgd.errors(q, steps)[k] == Approx(online(column)));
    CHECK(data_sgd_errors(problem, data, all, steps)[k] == Approx(fixed(column)));
  }
  CHECK(sgd.steady(q).error == Approx(error));
  CHECK(sgd.steady(q).chi == chi);
  CHECK(sgd.eta_max(q) == eta_max);
  CHECK(sgd.bayes_error() == Approx(problem.noise_variances().mean()));
  // Of some sites, but not of all, the steady state is stable between their bounds.
  CHECK(sgd.steady({.eta = 0.99 * eta_max, .batch = 2, .probability = 0.5}).stable);
  CHECK_FALSE(sgd.steady({.eta = 1.01 * eta_max, .batch = 2, .probability = 0.5}).stable);
  CHECK(data_sgd_stable(data, all) == (growth < 1));
  CHECK_FALSE(data_sgd_stable(data, {.eta = 10}));
}

TEST_CASE("what is called stable without a look at the map is stable", "[theory][sgd]") {
  // From learning rates that the norms alone decide to such that are far beyond.
  RandomStream stream({.seed = 5});
  for (const Eigen::Index samples : {3, 12}) {
    Eigen::MatrixXd data(samples, 6);
    stream.fill_normal(std::span(data.data(), static_cast<std::size_t>(data.size())));
    data *= ar1_covariance(6, 0.6).llt().matrixU();
    for (const double batch : {1.0, 4.0}) {
      for (double eta = 0.05; eta < 4; eta *= 1.15) {
        const SgdParameters parameters{.eta = eta, .batch = batch};
        double growth = 0;
        for (Eigen::Index i = 0; i < 6; ++i) {
          growth = std::max(growth, data_sgd_growth(data, i, parameters));
        }
        CAPTURE(samples, batch, eta, growth);
        CHECK(data_sgd_stable(data, parameters) == (growth < 1));
      }
    }
  }
}

}  // namespace gauss_sgd_test
