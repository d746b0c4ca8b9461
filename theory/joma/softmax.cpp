#include "attica/theory/joma/softmax.hpp"

#include <cmath>

namespace attica {

using Eigen::VectorXd;

namespace {

VectorXd centred(const VectorXd& x) { return x.array() - x.mean(); }

/// 0 where one of the two does not vary.
double correlation(const VectorXd& x, const VectorXd& y) {
  const VectorXd a = centred(x);
  const VectorXd b = centred(y);
  const double norms = a.norm() * b.norm();
  return norms > 0 ? a.dot(b) / norms : 0;
}

VectorXd logits(const JomaState& state) { return state.z.colwise().sum(); }

}  // namespace

SoftmaxInvariant::SoftmaxInvariant(const JomaModel& model, const JomaState& start)
    : temperature_(model.law().temperature), start_(logits(start)) {
  const auto& x = model.samples().contexts;
  mean_context_ =
      x.transpose() * model.samples().weights.cwiseQuotient(VectorXd(x.rowwise().sum()));
  constant_ = start_ - weights_part(start) - norm_part(start);
}

VectorXd SoftmaxInvariant::weights_part(const JomaState& state) const {
  return state.v.colwise().squaredNorm().transpose() / (2 * temperature_);
}

VectorXd SoftmaxInvariant::norm_part(const JomaState& state) const {
  return -state.v.squaredNorm() / (2 * temperature_) * mean_context_;
}

VectorXd SoftmaxInvariant::defect(const JomaState& state) const {
  return logits(state) - weights_part(state) - norm_part(state) - constant_;
}

SoftmaxAgreement SoftmaxInvariant::compare(const JomaState& state) const {
  const VectorXd z = logits(state);
  const VectorXd first = weights_part(state);
  const VectorXd second = norm_part(state);
  const VectorXd predicted = first + second + constant_;
  SoftmaxAgreement agreement{.correlation = correlation(z, predicted),
                             .correlation_weights = correlation(z, first),
                             .correlation_norm = correlation(z, second)};
  const VectorXd x = centred(predicted);
  if (x.squaredNorm() > 0) agreement.slope = x.dot(centred(z)) / x.squaredNorm();
  const double moved = (z - start_).norm();
  if (moved > 0) agreement.residual = (z - predicted).norm() / moved;
  return agreement;
}

}  // namespace attica
