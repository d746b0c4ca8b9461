#include "attica/studies/ridge_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// Points of a smooth theory line between the simulated ones.
constexpr int kLinePoints = 240;

/// Ascending: `values`, and a logarithmic grid between the first and the last.
std::vector<double> line_through(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double low = values.front();
  const double high = values.back();
  if (low > 0 && high > low) {
    const std::vector<double> grid = log_grid(low, high, kLinePoints + 1);
    values.insert(values.end(), grid.begin() + 1, grid.end() - 1);
  }
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

RidgeSweep::RidgeSweep(Configuration& c, RidgeAxis axis, std::vector<RidgeQuantity> quantities)
    : model_(GaussianModel::from(c)),
      ridge_(model_.problem()),
      axis_(axis),
      quantities_(std::move(quantities)),
      inputs_(static_cast<double>(model_.problem().sites() - 1)),
      alphas_(c.reals("sweep.alpha")),
      lambdas_(c.reals("sweep.lambda")) {
  for (const double alpha : alphas_) sizes_.push_back(realised_samples(alpha, inputs_));
  std::sort(sizes_.begin(), sizes_.end());
  sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
}

double RidgeSweep::samples(double alpha) const {
  // An integer exactly where it is one but for the rounding of alpha.
  const double product = alpha * inputs_;
  const double nearest = std::round(product);
  const bool rounding =
      std::abs(product - nearest) <= 2 * std::numeric_limits<double>::epsilon() * nearest;
  return rounding ? nearest : product;
}

std::vector<double> RidgeSweep::alphas(TheoryGrid grid) const {
  if (grid == TheoryGrid::requested) {
    for (const double alpha : alphas_) {
      require(samples(alpha) >= 1, "sweep.alpha", alpha, "alpha (L - 1) >= 1, at least one sample");
    }
    return alphas_;
  }
  constexpr double kMostNumbers = 1e9;
  require(static_cast<double>(sizes_.back()) * (inputs_ + 1) <= kMostNumbers,
          "sweep.alpha",
          *std::max_element(alphas_.begin(), alphas_.end()),
          fmt::format("data sets of at most {} numbers to simulate", kMostNumbers));
  std::vector<double> realised;
  for (const Index size : sizes_) realised.push_back(static_cast<double>(size) / inputs_);
  return realised;
}

TheoryResult RidgeSweep::theory(TheoryGrid grid) const {
  const auto along = [&](std::vector<double> x) {
    return grid == TheoryGrid::run ? line_through(std::move(x)) : x;
  };
  TheoryResult result;
  const auto add = [&](const Point& at,
                       const char* x_name,
                       const std::vector<double>& x,
                       const std::vector<RidgePoint>& curve) {
    for (const RidgeQuantity& quantity : quantities_) {
      Prediction p{
          .series = {.name = quantity.name, .point = at, .x_name = x_name, .x = x, .y = {}}};
      for (const RidgePoint& point : curve) {
        p.series.y.push_back(point.status == RidgeStatus::not_converged ? std::nan("")
                                                                        : point.*quantity.theory);
        if (quantity.compared != nullptr) p.compared.push_back(quantity.compared(point));
        // The margin on data is the claim itself, without allowances.
        if (quantity.finite_size != nullptr && !model_.from_data()) {
          p.finite_size.push_back(quantity.finite_size(point));
        }
      }
      result.predictions.push_back(std::move(p));
    }
  };
  if (axis_ == RidgeAxis::alpha) {
    const std::vector<double> x = along(alphas(grid));
    std::vector<double> sizes;
    for (const double alpha : x) sizes.push_back(samples(alpha));
    for (const double lambda : lambdas_) {
      add({{"lambda", lambda}}, "alpha", x, ridge_.curve(sizes, model_.absolute_lambda(lambda)));
    }
  } else {
    const std::vector<double> x = along(lambdas_);
    for (const double alpha : alphas(grid)) {
      std::vector<RidgePoint> curve;
      for (const double lambda : x) {
        curve.push_back(ridge_.average(samples(alpha), model_.absolute_lambda(lambda)));
      }
      add({{"alpha", alpha}}, "lambda", x, curve);
    }
  }
  return result;
}

std::uint64_t RidgeSweep::replicates_per_piece(std::size_t point) const {
  return ridge_replicates_per_piece(sizes_[point], model_.problem().sites(), lambdas_.size());
}

std::vector<Outcome> RidgeSweep::simulate(const Piece& piece) const {
  const Index samples = sizes_[piece.point];
  const double alpha = static_cast<double>(samples) / inputs_;
  return each_replicate(piece, [&](std::uint64_t replicate) {
    RandomStream stream(piece.stream(replicate));
    const RidgeFits fits(model_.samples(samples, stream), model_.factor());
    Outcome outcome;
    for (const double lambda : lambdas_) {
      const RidgeFit fit = fits.fit(model_.absolute_lambda(lambda));
      for (const RidgeQuantity& quantity : quantities_) {
        if (quantity.simulation == nullptr) continue;
        const double value = (fit.*quantity.simulation).mean();
        if (axis_ == RidgeAxis::alpha) {
          outcome.series.push_back(
              {quantity.name, {{"lambda", lambda}}, "alpha", {alpha}, {value}});
        } else {
          outcome.series.push_back(
              {quantity.name, {{"alpha", alpha}}, "lambda", {lambda}, {value}});
        }
      }
    }
    return outcome;
  });
}

Index realised_samples(double alpha, double inputs) {
  constexpr double kLargest = 1e15;  // far beyond what a run may simulate
  return std::max<Index>(1, std::llround(std::min(alpha * inputs, kLargest)));
}

std::uint64_t ridge_replicates_per_piece(Index samples, Index sites, std::size_t lambdas) {
  constexpr double kFlopsPerPiece = 2e9;
  constexpr double kMostReplicates = 50;
  // In products of L x L matrices: the reduction, at its slower pace, and each penalty.
  constexpr double kReduction = 12;
  constexpr double kPenalty = 3;
  const double l = static_cast<double>(sites);
  const double flops = 2 * static_cast<double>(samples) * l * l +
                       (kReduction + kPenalty * static_cast<double>(lambdas)) * l * l * l;
  return static_cast<std::uint64_t>(
      std::clamp(std::floor(kFlopsPerPiece / flops), 1.0, kMostReplicates));
}

std::vector<double> log_grid(double low, double high, int n) {
  std::vector<double> values;
  for (int k = 0; k < n; ++k) {
    values.push_back(low * std::pow(high / low, static_cast<double>(k) / (n - 1)));
  }
  return values;
}

Parameter alpha_parameter(std::vector<double> fallback) {
  return reals_parameter(
      "sweep.alpha", fallback, "samples per input, alpha = M / N with N = L - 1", kPositive);
}

Parameter lambda_parameter(std::vector<double> fallback, bool zero_allowed) {
  return reals_parameter(
      "sweep.lambda",
      fallback,
      "ridge penalty of the objective (1/2M) sum of squares + (lambda/2) |w|^2, in "
      "lambda_unit",
      {.low = 0, .low_open = !zero_allowed});
}

std::vector<Source> ridge_sources() {
  return {{"rende2024mapping",
           "Mapping of attention mechanisms to a generalized Potts model",
           "R. Rende, F. Gerace, A. Laio, S. Goldt",
           2024,
           "2304.07235",
           "setting: masked modelling with Gaussian data, ridge generalization error"},
          {"dobriban2018high",
           "High-dimensional asymptotics of prediction: ridge regression and classification",
           "E. Dobriban, S. Wager",
           2018,
           "1507.03003",
           "deterministic equivalents of ridge risk"},
          {"hastie2022surprises",
           "Surprises in high-dimensional ridgeless least squares interpolation",
           "T. Hastie, A. Montanari, S. Rosset, R. J. Tibshirani",
           2022,
           "1903.08560",
           "ridgeless limit, correlated features"}};
}

namespace {

/// " λ̄" where penalties are multiples of the mean eigenvalue.
std::string unit(const Configuration& c) {
  const bool relative =
      c.has("model.lambda_unit") && c.text("model.lambda_unit") == "mean_eigenvalue";
  return relative ? " {/:Italic λ̄}" : "";
}

}  // namespace

Axis alpha_axis() {
  return {.label = "{/:Italic α} = {/:Italic M} / {/:Italic N}", .scale = AxisScale::log};
}

Axis lambda_axis(const Configuration& c) {
  const std::string over = unit(c).empty() ? "" : " /" + unit(c);
  return {.label = "ridge penalty {/:Italic λ}" + over, .scale = AxisScale::log};
}

std::string lambda_label(const Configuration& c) { return "{/:Italic λ} = {lambda}" + unit(c); }

std::string lambda_note(const Configuration& c) {
  return unit(c).empty() ? "" : " λ̄: mean eigenvalue of the covariance.";
}

double ridge_margin(const Configuration& c) {
  constexpr double kGaussianMargin = 0.01;
  constexpr double kDataMargin = 0.05;
  return c.text("model.covariance") == "data" ? kDataMargin : kGaussianMargin;
}

std::vector<AgreementRule> ridge_agreement(const Configuration& configuration) {
  const double relative = ridge_margin(configuration);
  return {{.series = "test_error", .relative = relative},
          {.series = "train_error", .relative = relative}};
}

}  // namespace attica
