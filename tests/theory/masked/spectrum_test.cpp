#include "attica/theory/masked/spectrum.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "reference_values.hpp"
#include "refused.hpp"
#include "theory/masked/masked_density.hpp"

using namespace attica;
using attica::testing::masked_density;
using attica::testing::number;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace masked_spectrum_test {

std::vector<SiteGroup> halves(double ratio) { return {{1, 0.5}, {ratio, 0.5}}; }

Eigen::MatrixXd ar1(Eigen::Index d, double rho) {
  return Eigen::MatrixXd::NullaryExpr(d, d, [rho](Eigen::Index i, Eigen::Index j) {
    return std::pow(rho, static_cast<double>(std::abs(i - j)));
  });
}

/// The law of Marchenko and Pastur at Σ = I, mapped to w.
double isotropic_density(const IsotropicSpectrum& s, double gamma, double lambda, double w) {
  const double x = 1 / (s.g * (1 - w)) - lambda;
  const double low = std::pow(1 - std::sqrt(gamma), 2);
  const double high = std::pow(1 + std::sqrt(gamma), 2);
  if (x <= low || x >= high) return 0;
  const double rho = std::sqrt((x - low) * (high - x)) / (2 * std::numbers::pi * gamma * x);
  return rho * s.g * (x + lambda) * (x + lambda);
}

/// (1/d) tr A^p, p = 0..3: -w (1/d) tr (A-w)⁻¹ = 1 + m1/w + m2/w² + ... averaged over a circle
/// around all eigenvalues.
std::array<double, 4> circle_moments(const MaskedEquivalent& m) {
  constexpr int kPoints = 240;
  constexpr double kRadius = 8;
  std::array<std::complex<double>, 4> moments = {};
  for (int k = 0; k < kPoints; ++k) {
    const double angle = 2 * std::numbers::pi * (k + 0.5) / kPoints;
    const std::complex<double> w = std::polar(kRadius, angle);
    const std::complex<double> r = masked_resolvent(m, w);
    for (std::size_t p = 0; p < 4; ++p) {
      moments[p] -= r * std::pow(w, static_cast<double>(p + 1)) / double{kPoints};
    }
  }
  return {moments[0].real(), moments[1].real(), moments[2].real(), moments[3].real()};
}

TEST_CASE("isotropic_spectrum: reference values", "[theory][masked]") {
  for (const auto entry : reference_values("masked").at("iso")) {
    const IsotropicSpectrum s =
        isotropic_spectrum(number(entry.at("gamma")), number(entry.at("lambda_")));
    CHECK_THAT(s.kappa, WithinRel(number(entry.at("kappa")), 1e-12));
    CHECK_THAT(s.g, WithinRel(number(entry.at("g")), 1e-12));
    CHECK_THAT(s.lower, WithinAbs(number(entry.at("lower")), 1e-12));
    CHECK_THAT(s.upper, WithinAbs(number(entry.at("upper")), 1e-12));
    CHECK(s.atom.has_value() == !entry.at("atom").is_null());
    if (s.atom) CHECK_THAT(*s.atom, WithinAbs(number(entry.at("atom")), 1e-12));
    CHECK_THAT(s.moment2, WithinAbs(number(entry.at("m2")), 1e-11));
    CHECK_THAT(s.moment3, WithinAbs(number(entry.at("m3")), 1e-11));
  }
}

TEST_CASE("isotropic_spectrum: limits of the penalty", "[theory][masked]") {
  // λ -> 0: m2 -> γ/(1-γ) below γ = 1; λ -> ∞: λA -> S - diag S, m2 -> γ/λ².
  CHECK_THAT(isotropic_spectrum(0.4, 1e-9).moment2, WithinRel(0.4 / 0.6, 1e-7));
  CHECK_THAT(1e12 * isotropic_spectrum(0.4, 1e6).moment2, WithinRel(0.4, 1e-5));
  // γ > 1, λ -> 0: n eigenvalues at 1 and the rest at -1/(γ-1), so that the trace is 0.
  const IsotropicSpectrum s = isotropic_spectrum(3, 1e-9);
  CHECK_THAT(*s.atom, WithinRel(-0.5, 1e-7));
  CHECK_THAT(s.moment2, WithinRel(1.0 / 3 + 2.0 / 3 / 4, 1e-7));
}

TEST_CASE("masked_density: the law of Marchenko and Pastur, mapped", "[theory][masked]") {
  for (const double gamma : {0.3, 0.8, 1.0, 2.5}) {
    for (const double lambda : {0.05, 1.0}) {
      const MaskedEquivalent m = masked_equivalent({SiteGroup{}}, gamma, lambda);
      const IsotropicSpectrum s = isotropic_spectrum(gamma, lambda);
      for (const double part : {0.02, 0.3, 0.7, 0.98}) {
        const double w = s.lower + part * (s.upper - s.lower);
        CHECK_THAT(masked_density(m, w), WithinRel(isotropic_density(s, gamma, lambda, w), 1e-6));
      }
      CHECK_THAT(masked_density(m, s.upper + 0.5 * (1 - s.upper)), WithinAbs(0, 1e-7));
      const MaskedSupport support = masked_support(m, std::max(0.0, 1 - 1 / gamma));
      CHECK_THAT(support.upper, WithinAbs(s.upper, 1e-4 * (s.upper - s.lower)));
      CHECK_THAT(support.lower, WithinAbs(s.lower, 1e-4 * (s.upper - s.lower)));
    }
  }
}

TEST_CASE("masked_density: reference values of two groups", "[theory][masked]") {
  for (const auto entry : reference_values("masked").at("density")) {
    const MaskedEquivalent m = masked_equivalent(
        halves(number(entry.at("ratio"))), number(entry.at("gamma")), number(entry.at("lambda_")));
    CHECK_THAT(masked_density(m, number(entry.at("w"))),
               WithinRel(number(entry.at("density")), 1e-5));
  }
}

TEST_CASE("masked_cdf: the integral of the density, with the atom", "[theory][masked]") {
  // Midpoint rule with 400 points: the density is smooth inside, O(1e-5) of the share.
  for (const double gamma : {0.5, 2.0}) {
    for (const double ratio : {1.0, 9.0}) {
      const MaskedEquivalent m = masked_equivalent(halves(ratio), gamma, 1);
      // Above the kernel's narrow band.
      const MaskedSupport s = masked_support(m, gamma > 1 ? 1 - 1 / gamma : 0);
      const double low = s.lower + 0.2 * (s.upper - s.lower);
      const double high = s.lower + 0.7 * (s.upper - s.lower);
      constexpr int kPoints = 400;
      double sum = 0;
      for (int k = 0; k < kPoints; ++k) {
        sum += masked_density(m, low + (k + 0.5) * (high - low) / kPoints) * (high - low) / kPoints;
      }
      CHECK_THAT(masked_cdf(m, high) - masked_cdf(m, low), WithinAbs(sum, 1e-5));
      CHECK_THAT(masked_cdf(m, (1 + s.upper) / 2), WithinAbs(1, 1e-8));
      CHECK_THAT(masked_cdf(m, -100), WithinAbs(0, 1e-8));
    }
  }
  const MaskedEquivalent m = masked_equivalent({SiteGroup{}}, 2, 1);
  const IsotropicSpectrum s = isotropic_spectrum(2, 1);
  CHECK_THAT(masked_cdf(m, (*s.atom + s.lower) / 2), WithinAbs(0.5, 1e-8));
}

TEST_CASE("masked_resolvent: its moments are those of A", "[theory][masked]") {
  // -w tr(A-w)⁻¹/d = 1 + m1/w + m2/w² + m3/w³ + ..., averaged over a circle.
  for (const double gamma : {0.5, 2.0}) {
    for (const double ratio : {1.0, 4.0}) {
      const MaskedEquivalent m = masked_equivalent(halves(ratio), gamma, 0.3);
      const std::array<double, 4> moments = circle_moments(m);
      CHECK_THAT(moments[0], WithinAbs(1, 1e-9));
      CHECK_THAT(moments[1], WithinAbs(0, 1e-9));  // tr A = 0
      CHECK_THAT(moments[2], WithinAbs(masked_moment2(m), 1e-8));
      if (ratio == 1.0) {
        CHECK_THAT(moments[3], WithinAbs(isotropic_spectrum(gamma, 0.3).moment3, 1e-7));
      }
    }
  }
}

TEST_CASE("masked_moment2: of a matrix, by groups and by reference", "[theory][masked]") {
  for (const auto entry : reference_values("masked").at("ar1")) {
    const auto d = entry.at("dimension").get<Eigen::Index>();
    CHECK_THAT(masked_moment2(ar1(d, number(entry.at("rho"))),
                              number(entry.at("samples")),
                              number(entry.at("lambda_"))),
               WithinRel(number(entry.at("m2")), 1e-10));
  }
  Eigen::VectorXd variances(6);
  variances << 1, 1, 1, 4, 4, 4;
  CHECK_THAT(masked_moment2(Eigen::MatrixXd(variances.asDiagonal()), 15, 0.2),
             WithinRel(masked_moment2(masked_equivalent(halves(4), 6.0 / 15, 0.2)), 1e-12));
  // A long stationary sequence: the ends are a share 1/d.
  std::vector<SiteGroup> spectrum;
  const Eigen::Index d = 200;
  const Eigen::VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(ar1(d, 0.5)).eigenvalues();
  for (const double s : eigenvalues) spectrum.push_back({s, 1.0 / static_cast<double>(d)});
  CHECK_THAT(circle_moments(masked_stationary(spectrum, 0.5, 0.5))[2],
             WithinRel(masked_moment2(ar1(d, 0.5), 400, 0.5), 0.02));
}

TEST_CASE("isotropic_moment2: reference values, and the exact mean at a large penalty",
          "[theory][masked]") {
  for (const auto entry : reference_values("masked").at("m2")) {
    const double d = number(entry.at("dimension"));
    const double n = number(entry.at("samples"));
    const double lambda = number(entry.at("lambda_"));
    CHECK_THAT(isotropic_spectrum(d / n, lambda).moment2,
               WithinRel(number(entry.at("leading")), 1e-11));
    CHECK_THAT(isotropic_moment2(d, n, lambda), WithinRel(number(entry.at("first")), 1e-7));
  }
  // The same formulas in 40 digits.
  CHECK_THAT(isotropic_moment2(40, 160, 0.05), WithinRel(0.27155959767147955, 1e-12));
  CHECK_THAT(isotropic_moment2(40, 10, 1), WithinRel(0.17221699438433081, 1e-12));
  // λ -> ∞: λ²(1/d) tr A² -> Σ_{k≠j} S_kj²/d, whose mean is (d-1)/n exactly.
  CHECK_THAT(1e12 * isotropic_moment2(30, 50, 1e6), WithinRel(29.0 / 50, 1e-4));
}

TEST_CASE("isotropic_moment3: the leading order at a large size, the mean at a large penalty",
          "[theory][masked]") {
  // Leading order by another way, from the spectrum; what is left falls as 1/d.
  for (const double gamma : {0.3, 1.0, 3.0}) {
    for (const double lambda : {0.01, 0.3, 2.0}) {
      constexpr double kSize = 1e7;
      const IsotropicSpectrum s = isotropic_spectrum(gamma, lambda);
      CAPTURE(gamma, lambda);
      CHECK_THAT(isotropic_moment3(kSize, kSize / gamma, lambda),
                 WithinAbs(s.moment3, 1e-5 * std::pow(s.moment2, 1.5)));
    }
  }
  // λ -> ∞: λ³(1/d) tr A³ -> Σ S_ij S_jk S_ki/d over distinct sites, whose mean is (d-1)(d-2)/n².
  CHECK_THAT(1e15 * isotropic_moment3(30, 50, 1e5), WithinRel(29.0 * 28 / 2500, 1e-3));
  CHECK(refused([] { static_cast<void>(isotropic_moment3(3, 10, 1)); }) == "dimension");
}

TEST_CASE("masked theory: bad input names the argument", "[theory][masked]") {
  CHECK(refused([] { static_cast<void>(isotropic_spectrum(0.5, 0)); }) == "lambda");
  CHECK(refused([] { static_cast<void>(isotropic_spectrum(-1, 1)); }) == "gamma");
  CHECK(refused([] { static_cast<void>(masked_equivalent({{0, 1}}, 0.5, 1)); }) == "variance");
  CHECK(refused([] {
          static_cast<void>(masked_cdf(masked_equivalent({SiteGroup{}}, 0.5, 1), 1));
        }) == "w");
  CHECK(refused([] { static_cast<void>(isotropic_moment2(2, 5, 1)); }) == "dimension");
}

}  // namespace masked_spectrum_test
