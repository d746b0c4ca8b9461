#include "attica/theory/icl/ridge.hpp"

#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "attica/core/icl/regression.hpp"
#include "attica/core/random.hpp"
#include "icl/reference.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::reference_pool;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::ArrayXd;
using Eigen::MatrixXd;

namespace icl_ridge_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ContextRatios ratios(Reference entry) {
  return {.alpha = entry.at("alpha"),
          .kappa = entry.at("kappa").is_string() ? kInfinity : entry.at("kappa").get<double>(),
          .tau = entry.at("tau"),
          .rho = entry.at("rho"),
          .lambda = entry.at("lam")};
}

/// The spectra that the reference names, of trace d.
ArrayXd spectrum(const std::string& name, Eigen::Index d) {
  ArrayXd s = ArrayXd::LinSpaced(d, 1, static_cast<double>(d));
  if (name == "ramp-reversed") s = s.reverse().eval();
  if (name == "flat") s.setOnes();
  if (name == "power") s = s.pow(-0.5);
  if (name == "half") {
    s.head(d / 2).setOnes();
    s.tail(d - d / 2).setConstant(1e-3);
  }
  return s / s.mean();
}

TEST_CASE("context_limit: reference values", "[theory][icl]") {
  for (const Reference entry : reference_values("incontext").at("ridge").at("scalar")) {
    CAPTURE(entry.dump());
    const ContextErrors errors = context_limit(ratios(entry));
    // Double precision holds 1e-13 there (the reference was checked with 60 digits).
    CHECK_THAT(errors.icl, WithinRel(entry.at("icl").get<double>(), 1e-12));
    CHECK_THAT(errors.idg, WithinRel(entry.at("idg").get<double>(), 1e-12));
    CHECK_THAT(errors.xi, WithinRel(entry.at("xi").get<double>(), 1e-12));
  }
}

TEST_CASE("context_limit: reference values with task covariances", "[theory][icl]") {
  for (const Reference entry : reference_values("incontext").at("ridge").at("covariance")) {
    CAPTURE(entry.dump());
    const Eigen::Index d = entry.at("d");
    const ContextRatios r = ratios(entry);
    const ContextErrors errors = context_limit(r,
                                               {.train = spectrum(entry.at("train"), d),
                                                .test = spectrum(entry.at("test"), d),
                                                .alpha_test = r.alpha});
    CHECK_THAT(errors.icl, WithinRel(entry.at("icl").get<double>(), 1e-11));
    CHECK_THAT(errors.idg, WithinRel(entry.at("idg").get<double>(), 1e-11));
    CHECK_THAT(errors.xi, WithinAbs(entry.at("xi").get<double>(), 1e-11));
  }
}

TEST_CASE("context_limit: flat spectra are the sphere", "[theory][icl]") {
  const ArrayXd flat = ArrayXd::Ones(7);
  for (const double kappa : {0.01, 0.3, 1.0, 4.0, kInfinity}) {
    for (const double lambda : {0.0, 1e-3, 1.0}) {
      const ContextRatios r{.alpha = 1.5, .kappa = kappa, .tau = 0.6, .rho = 0.2, .lambda = lambda};
      const ContextErrors sphere = context_limit(r);
      const ContextErrors general =
          context_limit(r, {.train = flat, .test = flat, .alpha_test = r.alpha});
      CAPTURE(kappa, lambda);
      // Two forms of the same resolvent; the differences 1 - 2νM - ν²M' lose a few digits.
      CHECK_THAT(general.icl, WithinRel(sphere.icl, 1e-11));
      CHECK_THAT(general.idg, WithinRel(sphere.idg, 1e-11));
      CHECK_THAT(general.one_minus_gamma, WithinRel(sphere.one_minus_gamma, 1e-11));
    }
  }
}

TEST_CASE("context_limit: limits known by hand", "[theory][icl]") {
  // Infinitely many sequences and tasks: ICL = IDG = ρ + (1+ρ)/(α+1+ρ).
  const double alpha = 3;
  const double rho = 0.4;
  const ContextErrors all =
      context_limit({.alpha = alpha, .kappa = kInfinity, .tau = 1e9, .rho = rho, .lambda = 0});
  const double expected = rho + (1 + rho) / (alpha + 1 + rho);
  CHECK_THAT(all.icl, WithinRel(expected, 1e-8));
  CHECK_THAT(all.idg, WithinRel(expected, 1e-8));
  // Infinite contexts besides: what is not in the span of the pool is not learnt.
  for (const double kappa : {0.2, 0.7, 1.5}) {
    const ContextErrors memory =
        context_limit({.alpha = 1e8, .kappa = kappa, .tau = 1e14, .rho = rho, .lambda = 0});
    CHECK_THAT(memory.idg, WithinAbs(rho, 1e-6));
    CHECK_THAT(memory.icl, WithinAbs(rho + std::max(1 - kappa, 0.0), 1e-6));
  }
  // At the interpolation threshold without penalty both are infinite.
  const ContextErrors threshold = context_limit({.alpha = 1, .tau = 1, .rho = rho, .lambda = 0});
  CHECK(std::isinf(threshold.icl));
  CHECK(std::isinf(threshold.idg));
  CHECK(threshold.one_minus_gamma == 0);
  // An overwhelming penalty: Γ = 0 and the error is that of predicting 0.
  const ContextErrors none = context_limit({.alpha = 1, .tau = 2, .rho = rho, .lambda = 1e6});
  CHECK_THAT(none.icl, WithinRel(1 + rho, 1e-5));
  CHECK_THAT(none.idg, WithinRel(1 + rho, 1e-5));
}

TEST_CASE("context_limit: tends to what a large pool gives", "[theory][icl]") {
  // The pool's own theory, averaged by itself as d grows: differences of order 1/d.
  constexpr Eigen::Index kDimension = 300;
  RandomStream stream({.seed = 3, .id = StreamId::model});
  const MatrixXd pool = sphere_pool(150, kDimension, stream);
  const double d = kDimension;
  for (const double tau : {0.4, 2.0}) {
    const ContextErrors limit =
        context_limit({.alpha = 2, .kappa = 0.5, .tau = tau, .rho = 0.1, .lambda = 0.1});
    const ContextErrors exact = context_gaussian(
        pool, {.context = 2 * d, .samples = tau * d * d, .rho = 0.1, .lambda = 0.1});
    CHECK_THAT(exact.icl, WithinRel(limit.icl, 3 / d));
    CHECK_THAT(exact.idg, WithinRel(limit.idg, 3 / d));
    CHECK_THAT(exact.one_minus_gamma, WithinRel(limit.one_minus_gamma, 3 / d));
  }
}

TEST_CASE("context_limit: the memorisation transition at kappa = 1", "[theory][icl]") {
  const auto gap = [](double kappa) {
    const ContextErrors e =
        context_limit({.alpha = 1e4, .kappa = kappa, .tau = 1e4, .rho = 0.01, .lambda = 0});
    return e.icl - e.idg;
  };
  CHECK_THAT(gap(0.5), WithinAbs(0.5, 1e-2));
  CHECK(gap(0.9) > 0.09);
  CHECK(gap(1.5) < 1e-2);
}

TEST_CASE("context_gaussian: reference values", "[theory][icl]") {
  for (const Reference entry : reference_values("incontext").at("ridge").at("pool")) {
    CAPTURE(entry.dump());
    const MatrixXd pool = reference_pool(entry.at("k"), entry.at("d"));
    const ContextErrors errors = context_gaussian(pool,
                                                  {.context = entry.at("l"),
                                                   .samples = entry.at("n"),
                                                   .rho = entry.at("rho"),
                                                   .lambda = entry.at("lam")});
    CHECK_THAT(errors.icl, WithinRel(entry.at("icl").get<double>(), 1e-11));
    CHECK_THAT(errors.idg, WithinRel(entry.at("idg").get<double>(), 1e-11));
  }
}

TEST_CASE("context_gaussian: infinitely many sequences give the best linear predictor",
          "[theory][icl]") {
  const MatrixXd pool = reference_pool(3, 6);
  const ContextNoise noise{.length = 9, .rho = 0.3};
  const ContextMoments own = pool_moments(pool, noise);
  const MatrixXd best = own.second.partialPivLu().solve(own.cross.transpose()).transpose();
  const ContextErrors errors =
      context_gaussian(pool, {.context = 9, .samples = 1e12, .rho = 0.3, .lambda = 0});
  CHECK_THAT(errors.idg, WithinRel(population_error(best, own), 1e-9));
  CHECK_THAT(errors.icl, WithinRel(population_error(best, fresh_moments(6, noise)), 1e-9));
}

TEST_CASE("context_bayes: reference values and ends", "[theory][icl]") {
  for (const Reference entry : reference_values("incontext").at("ridge").at("bayes")) {
    CHECK_THAT(context_bayes(entry.at("alpha"), entry.at("rho")),
               WithinRel(entry.at("bayes").get<double>(), 1e-13));
  }
  CHECK_THAT(context_bayes(0.4, 0), WithinAbs(0.6, 1e-15));
  CHECK_THAT(context_bayes(0.4, 1e-9), WithinAbs(0.6, 1e-8));
  CHECK_THAT(context_bayes(1e9, 0.3), WithinRel(0.3, 1e-8));
  CHECK_THAT(context_bayes(1e-9, 0.3), WithinRel(1.3, 1e-8));
  // No predictor linear in (h, g) is better than the posterior mean.
  for (const double alpha : {0.5, 2.0, 20.0}) {
    const ContextErrors linear =
        context_limit({.alpha = alpha, .kappa = kInfinity, .tau = 1e9, .rho = 0.3, .lambda = 0});
    CHECK(linear.icl > context_bayes(alpha, 0.3));
  }
}

TEST_CASE("two_task_error: ends, and draws of the log odds", "[theory][icl]") {
  // A context that tells nothing leaves both tasks, one that tells all the noise.
  CHECK_THAT(two_task_error(1, 1e6, 2) - 1e6, WithinAbs(0.5, 1e-3));
  CHECK_THAT(two_task_error(400, 0.01, 2), WithinRel(0.01, 1e-9));
  CHECK_THAT(two_task_error(3, 0.2, 0), WithinRel(0.2, 1e-12));
  constexpr int kDraws = 400000;
  RandomStream stream({.seed = 8});
  double wrong = 0;
  for (int k = 0; k < kDraws; ++k) {
    double odds = 0;  // from the residuals of both tasks, token by token
    for (int i = 0; i < 3; ++i) {
      const double noise = std::sqrt(0.4) * stream.normal();
      const double between = std::sqrt(1.5) * stream.normal();
      odds += (std::pow(noise + between, 2) - noise * noise) / (2 * 0.4);
    }
    wrong += std::pow(1 / (1 + std::exp(odds)), 2) / kDraws;
  }
  CHECK_THAT(two_task_error(3, 0.4, 1.5), WithinRel(0.4 + 1.5 * wrong, 0.005));
}

TEST_CASE("context theory: bad input names the parameter", "[theory][icl]") {
  const ContextRatios right;
  const auto limit_with = [&](auto change) {
    ContextRatios r = right;
    change(r);
    return refused([&] { static_cast<void>(context_limit(r)); });
  };
  CHECK(limit_with([](ContextRatios& r) { r.alpha = 0; }) == "alpha");
  CHECK(limit_with([](ContextRatios& r) { r.alpha = kInfinity; }) == "alpha");
  CHECK(limit_with([](ContextRatios& r) { r.kappa = -1; }) == "kappa");
  CHECK(limit_with([](ContextRatios& r) { r.tau = std::nan(""); }) == "tau");
  CHECK(limit_with([](ContextRatios& r) { r.rho = -0.1; }) == "rho");
  CHECK(limit_with([](ContextRatios& r) { r.lambda = -0.1; }) == "lambda");
  const ArrayXd flat = ArrayXd::Ones(4);
  const auto spectra_with = [&](const ArrayXd& train, const ArrayXd& test) {
    return refused([&] { static_cast<void>(context_limit(right, {train, test, 1})); });
  };
  CHECK(spectra_with(flat, ArrayXd::Ones(3)) == "spectrum");
  CHECK(spectra_with(-flat, flat) == "spectrum");
  CHECK(spectra_with(flat, 0 * flat) == "spectrum");
  CHECK(refused([&] { static_cast<void>(context_limit(right, {flat, flat, 0})); }) == "alpha_test");
  const MatrixXd pool = reference_pool(2, 4);
  CHECK(refused([&] { static_cast<void>(context_gaussian(pool, {.samples = 3})); }) == "samples");
  CHECK(refused([&] { static_cast<void>(context_gaussian(pool, {.samples = 9, .lambda = -1})); }) ==
        "lambda");
  CHECK(refused([] { static_cast<void>(context_bayes(0, 1)); }) == "alpha");
}

}  // namespace icl_ridge_test
