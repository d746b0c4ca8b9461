#include "attica/studies/masked/population.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/core/gauss/mlm.hpp"
#include "attica/core/input_files.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/studies/masked/model.hpp"
#include "attica/theory/ridge_kappa.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const Choices<SpectrumPopulation::Kind>& population_kinds() {
  using Kind = SpectrumPopulation::Kind;
  static const Choices<Kind> all = {{"identity", Kind::identity},
                                    {"groups", Kind::groups},
                                    {"ar1", Kind::ar1},
                                    {"data", Kind::data}};
  return all;
}

double median_of(VectorXd values) {
  std::sort(values.begin(), values.end());
  return values(values.size() / 2);
}

}  // namespace

SpectrumPopulation::SpectrumPopulation(Configuration& c)
    : kind_(population_kinds().of(c, "model.covariance")),
      ratio_(c.real("model.noise_ratio")),
      rho_(c.real("model.rho")) {
  if (on_rows()) read_rows(c);
  sites_ = c.integer("model.dimension");
  if (kind_ == Kind::groups) require_halves(c);
}

void SpectrumPopulation::read_rows(Configuration& c) {
  if (!c.has("model.file")) {
    throw invalid_parameter("model.file", "(unset)", "a file for model.covariance = \"data\"");
  }
  const std::filesystem::path path = c.input_file("model.file");
  try {
    observed_ = centred_observations(input_numbers(c.inputs, path, CsvHeader::required),
                                     c.flag("model.standardise"));
    const GaussianMlm problem(observed_.covariance(), Definiteness::semi_positive);
    covariance_ = problem.covariance();
    factor_ = problem.factor();
    unit_ = problem.mean_eigenvalue();
  } catch (const Error& error) {
    throw Error(
        error.kind(), fmt::format("parameter 'model.file': {}", error.what()), "model.file");
  }
  const auto d = static_cast<std::int64_t>(covariance_.rows());
  if (c.given("model.dimension") && c.integer("model.dimension") != d) {
    throw invalid_parameter("model.dimension",
                            static_cast<double>(c.integer("model.dimension")),
                            fmt::format("{}, as the file has, or no value", d));
  }
  c.set("model.dimension", d, false);
}

MatrixXd SpectrumPopulation::sample_covariance(Index n, RandomStream& stream) const {
  if (kind_ == Kind::ar1) return ar1_sample_covariance(sites_, rho_, n, stream);
  if (on_rows()) {
    const MatrixXd x = resampled_rows(observed_.rows, n, stream);
    return x.transpose() * x / static_cast<double>(n);
  }
  SpikedNoise noise{.variances = VectorXd::Ones(sites_), .direction = {}, .theta = 0};
  if (kind_ == Kind::groups) noise.variances.tail(sites_ / 2).setConstant(ratio_);
  return attica::sample_covariance(noise, n, stream);
}

MatrixXd SpectrumPopulation::gaussian_covariance(Index n, RandomStream& stream) const {
  const MatrixXd x = gaussian_samples(factor_, false, n, stream);
  return x.transpose() * x / static_cast<double>(x.rows());
}

MaskedEquivalent SpectrumPopulation::equivalent(double alpha, double lambda) const {
  switch (kind_) {
    case Kind::identity:
      return masked_equivalent({SiteGroup{}}, 1 / alpha, lambda);
    case Kind::groups:
      return masked_equivalent({{1, 0.5}, {ratio_, 0.5}}, 1 / alpha, lambda);
    case Kind::ar1:
    case Kind::data:
      break;
  }
  // Eigenvalues of a long stationary sequence, at equal steps of the wave number.
  constexpr int kWaves = 64;
  std::vector<SiteGroup> spectrum;
  for (int k = 0; k < kWaves; ++k) {
    const double phase = std::cos(std::numbers::pi * (k + 0.5) / kWaves);
    spectrum.push_back({(1 - rho_ * rho_) / (1 - 2 * rho_ * phase + rho_ * rho_), 1.0 / kWaves});
  }
  return masked_stationary(std::move(spectrum), 1 / alpha, lambda);
}

MaskedSupport SpectrumPopulation::bulk(double alpha, double samples, double lambda) const {
  switch (kind_) {
    case Kind::identity: {
      const IsotropicSpectrum s = isotropic_spectrum(1 / alpha, lambda);
      return {.lower = s.lower, .upper = s.upper};
    }
    case Kind::data: {
      constexpr double kFar = 3;
      const double width = std::sqrt(masked_moment2(covariance_, samples, absolute(lambda)));
      return {.lower = -kFar * width, .upper = 1};
    }
    case Kind::groups:
    case Kind::ar1:
      break;
  }
  const double below = kind_ == Kind::ar1 ? std::max(0.0, 1 - alpha) : 0;
  return masked_support(equivalent(alpha, lambda), below);
}

std::optional<double> SpectrumPopulation::atom(double alpha, double lambda) const {
  if (kind_ != Kind::identity || alpha >= 1) return {};
  return isotropic_spectrum(1 / alpha, lambda).atom;
}

PredictedValue SpectrumPopulation::moment2(double alpha, double n, double lambda) const {
  switch (kind_) {
    case Kind::identity: {
      constexpr double kSecondOrder = 15;
      const double value = isotropic_moment2(dimension(), n, lambda);
      return {value, kSecondOrder / (n * n) * value};
    }
    case Kind::groups: {
      const double value = masked_moment2(equivalent(alpha, lambda));
      return {value, first_order(value)};
    }
    case Kind::data:
      return {masked_moment2(covariance_, n, absolute(lambda))};
    case Kind::ar1:
      break;
  }
  const MatrixXd sigma = MatrixXd::NullaryExpr(sites_, sites_, [this](Index i, Index j) {
    return std::pow(rho_, static_cast<double>(std::abs(i - j)));
  });
  const double value = masked_moment2(sigma, n, lambda);
  return {value, first_order(value)};
}

double SpectrumPopulation::form_variance(double samples, double lambda) const {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(covariance_);
  const VectorXd values = solver.eigenvalues().cwiseMax(0);
  const VectorXd weights =
      (values.array() + ridge_kappa(values.array(), samples, absolute(lambda))).inverse();
  const VectorXd forms =
      (observed_.rows * solver.eigenvectors()).array().square().matrix() * weights;
  return (forms.array() - forms.mean()).square().mean() /
         (2 * values.cwiseProduct(weights).squaredNorm());
}

Table SpectrumPopulation::diagnostics() const {
  const VectorXd kurtosis = observed_.excess_kurtosis();
  return {{"observations", static_cast<std::int64_t>(observed_.rows.rows())},
          {"mean_eigenvalue", unit_},
          {"median_excess_kurtosis", median_of(kurtosis)},
          {"largest_excess_kurtosis", kurtosis.maxCoeff()},
          {"dropped_columns", List(observed_.constants.begin(), observed_.constants.end())}};
}

}  // namespace attica
