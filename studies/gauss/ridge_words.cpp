#include "attica/studies/gauss/ridge_words.hpp"

#include "attica/studies/gauss/model.hpp"
#include "attica/studies/gauss/order.hpp"

namespace attica {

double ridge_flops(Eigen::Index samples, Eigen::Index sites, std::size_t lambdas) {
  // In products of L x L matrices: the reduction, at its slower pace, and each penalty.
  constexpr double kReduction = 12;
  constexpr double kPenalty = 3;
  const auto l = static_cast<double>(sites);
  return 2 * static_cast<double>(samples) * l * l +
         (kReduction + kPenalty * static_cast<double>(lambdas)) * l * l * l;
}

Parameter alpha_parameter(const std::vector<double>& fallback) {
  return reals_parameter(
      "sweep.alpha", fallback, "samples per input, alpha = M / N with N = L - 1", kPositive);
}

Parameter lambda_parameter(const std::vector<double>& fallback, bool zero_allowed) {
  return reals_parameter(
      "sweep.lambda",
      fallback,
      "ridge penalty of the objective (1/2M) sum of squares + (lambda/2) |w|^2, in lambda_unit",
      zero_allowed ? kNotNegative : kPositive);
}

Parameter data_sets_parameter(std::int64_t fallback) {
  constexpr double kMost = 1e6;
  return integer_parameter("sim.data_sets",
                           fallback,
                           "independent data sets in a replicate, which averages over them: the "
                           "mean of several is less skew than one",
                           {.low = 1, .high = kMost});
}

RidgeOrder ridge_order(Configuration& c) {
  if (on_data(c)) c.set("theory.order", Value("leading"), false);
  return configured_order(c);
}

std::vector<Source> ridge_sources() {
  return {cited("rende2024mapping",
                "setting: masked modelling with Gaussian data, ridge generalization error"),
          cited("dobriban2018high", "deterministic equivalents of ridge risk"),
          cited("hastie2022surprises", "ridgeless limit, correlated features")};
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
  return on_data(c) ? kDataMargin : kGaussianMargin;
}

std::vector<AgreementRule> ridge_agreement(const Configuration& c) {
  return rules({"test_error", "train_error"}, {.series = {}, .relative = ridge_margin(c)});
}

}  // namespace attica
