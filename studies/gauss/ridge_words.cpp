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

RidgeOrder ridge_order(Configuration& c) {
  if (on_data(c)) c.set("theory.order", Value("leading"), false);
  return configured_order(c);
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
