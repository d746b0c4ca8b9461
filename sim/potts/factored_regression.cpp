#include "attica/sim/potts/factored_regression.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;

namespace {

/// Numbers in a chunk's matrices: large enough for matrix products, small enough for the cache.
constexpr Index kMatrixNumbers = 1 << 15;

/// Deviations e_{s_mj} - f_j of all sequences below each other, @shape{M C x L}.
MatrixXd deviations(const WeightedSequences& data, const MatrixXd& frequencies) {
  const Index colours = frequencies.rows();
  MatrixXd d(data.sequences.rows() * colours, data.sequences.cols());
  for (Index j = 0; j < d.cols(); ++j) {
    for (Index m = 0; m < data.sequences.rows(); ++m) {
      auto entry = d.col(j).segment(m * colours, colours);
      entry = -frequencies.col(j);
      entry[data.sequences(m, j)] += 1;
    }
  }
  return d;
}

/// The pair of unit vectors (A, V) with the largest sum_ij A_ij tr(V^T C_ij), C_ij the covariance
/// of the colours of sites i and j: where training from small values starts to grow.
FactoredAttention leading_pair(const WeightedSequences& data, Index colours) {
  const MatrixXd frequencies = marginals(data, colours);
  const MatrixXd phi = deviations(data, frequencies);
  const Index sites = phi.cols();
  const Index count = data.sequences.rows();
  FactoredAttention pair{.attention = MatrixXd::Zero(sites, sites),
                         .values = MatrixXd::Identity(colours, colours)};
  MatrixXd image(phi.rows(), sites);
  constexpr int kIterations = 20;  // a start need not be exact
  for (int k = 0; k < kIterations; ++k) {
    // A_ij = sum_m w_m phi_mi^T V phi_mj
    for (Index m = 0; m < count; ++m) {
      image.middleRows(m * colours, colours).noalias() =
          data.weights[m] * pair.values * phi.middleRows(m * colours, colours);
    }
    pair.attention.noalias() = phi.transpose() * image;
    pair.attention.diagonal().setZero();
    pair.attention.normalize();
    // V = sum_m w_m sum_ij A_ij phi_mi phi_mj^T
    image.noalias() = phi * pair.attention;
    pair.values.setZero();
    for (Index m = 0; m < count; ++m) {
      pair.values.noalias() += data.weights[m] * image.middleRows(m * colours, colours) *
                               phi.middleRows(m * colours, colours).transpose();
    }
    pair.values.normalize();
  }
  return pair;
}

/// Rough second derivatives of the loss by A, V and the fields: variance of the colours at the
/// predicted site times the square of what multiplies the parameter.
Eigen::VectorXd curvature(const WeightedSequences& data,
                          const FactoredAttention& at,
                          double lambda,
                          double bias_lambda) {
  const Index sites = at.sites();
  const Index colours = at.colours();
  const MatrixXd f = marginals(data, colours);
  const MatrixXd variance = (f.array() * (1 - f.array())).matrix();
  // A_ij: sum_a var_i(a) sum_c f_j(c) V_ac^2
  const MatrixXd by_a = variance.transpose() * at.values.cwiseAbs2() * f;
  // V_ac: sum_ij A_ij^2 var_i(a) f_j(c)
  const MatrixXd by_v = variance * at.attention.cwiseAbs2() * f.transpose();
  Eigen::VectorXd d(sites * sites + colours * colours + colours * sites);
  d << (by_a.array() + lambda * at.values.squaredNorm()).matrix().reshaped(),
      (by_v.array() + lambda * at.attention.squaredNorm()).matrix().reshaped(),
      (variance.array() + bias_lambda + 1e-4).matrix().reshaped();
  // Sites that never vary bend the loss nowhere.
  constexpr double kLeast = 1e-8;
  return d.cwiseMax(kLeast) / static_cast<double>(sites);
}

}  // namespace

FactoredRegression::FactoredRegression(const WeightedSequences& data,
                                       Index colours,
                                       double lambda,
                                       double bias_lambda)
    : sites_(data.sequences.cols()),
      colours_(colours),
      lambda_(lambda),
      bias_lambda_(bias_lambda),
      data_(data) {
  require(bias_lambda >= 0 && std::isfinite(bias_lambda),
          "bias_lambda",
          bias_lambda,
          "bias_lambda >= 0");
  require(lambda >= 0 && std::isfinite(lambda), "lambda", lambda, "lambda >= 0");
  require_sequences(data.sequences, sites_, colours);
}

BiasedAttention FactoredRegression::unpacked(const double* x) const {
  const double* v = x + sites_ * sites_;
  return {.attention = {.attention = Map<const MatrixXd>(x, sites_, sites_),
                        .values = Map<const MatrixXd>(v, colours_, colours_)},
          .biases = Map<const MatrixXd>(v + colours_ * colours_, colours_, sites_)};
}

double FactoredRegression::operator()(const double* x, double* gradient) {
  const Map<const MatrixXd> a(x, sites_, sites_);
  const Map<const MatrixXd> v(x + sites_ * sites_, colours_, colours_);
  const Map<const MatrixXd> b(v.data() + v.size(), colours_, sites_);
  MatrixXd da = MatrixXd::Zero(sites_, sites_);
  MatrixXd dv = MatrixXd::Zero(colours_, colours_);
  MatrixXd db = MatrixXd::Zero(colours_, sites_);
  const Index count = data_.sequences.rows();
  const Index chunk = std::clamp<Index>(kMatrixNumbers / (sites_ * colours_), 1, count);
  double loss = 0;
  for (Index first = 0; first < count; first += chunk) {
    const Index here = std::min(chunk, count - first);
    seen_.resize(here * colours_, sites_);
    for (Index j = 0; j < sites_; ++j) {
      for (Index m = 0; m < here; ++m) {
        seen_.col(j).segment(m * colours_, colours_) = v.col(data_.sequences(first + m, j));
      }
    }
    logits_.noalias() = seen_ * a.transpose();
    for (Index i = 0; i < sites_; ++i) {
      for (Index m = 0; m < here; ++m) {
        auto h = logits_.col(i).segment(m * colours_, colours_).array();
        const double weight = data_.weights[first + m] / static_cast<double>(sites_);
        const Index own = data_.sequences(first + m, i);
        h += b.col(i).array();
        h -= h.maxCoeff();
        const double target = h[own];
        h = h.exp();
        const double sum = h.sum();
        loss += weight * (std::log(sum) - target);
        h *= weight / sum;  // now the derivative by the logits
        h[own] -= weight;
        db.col(i) += h.matrix();
      }
    }
    if (gradient == nullptr) continue;
    da.noalias() += logits_.transpose() * seen_;
    pull_.noalias() = logits_ * a;
    for (Index j = 0; j < sites_; ++j) {
      for (Index m = 0; m < here; ++m) {
        dv.col(data_.sequences(first + m, j)) += pull_.col(j).segment(m * colours_, colours_);
      }
    }
  }
  // The diagonal of A is no parameter: it starts at 0 and has gradient 0.
  const double scale = lambda_ / static_cast<double>(sites_);
  const double bias_scale = bias_lambda_ / static_cast<double>(sites_);
  const double a2 = a.squaredNorm();
  const double v2 = v.squaredNorm();
  if (gradient != nullptr) {
    da.diagonal().setZero();
    Map<MatrixXd>(gradient, sites_, sites_) = da + scale * v2 * a;
    Map<MatrixXd>(gradient + a.size(), colours_, colours_) = dv + scale * a2 * v;
    Map<MatrixXd>(gradient + a.size() + v.size(), colours_, sites_) = db + bias_scale * b;
  }
  return loss + 0.5 * (scale * a2 * v2 + bias_scale * b.squaredNorm());
}

BiasedAttention independent_sites(const WeightedSequences& data, Index colours, double share) {
  require(share > 0 && share <= 1, "share", share, "0 < share <= 1");
  const MatrixXd frequencies = marginals(data, colours);
  MatrixXd biases =
      ((1 - share) * frequencies.array() + share / static_cast<double>(colours)).log();
  biases.rowwise() -= biases.colwise().mean();
  return {.attention = {.attention = MatrixXd::Zero(frequencies.cols(), frequencies.cols()),
                        .values = MatrixXd::Zero(colours, colours)},
          .biases = std::move(biases)};
}

FactoredRegressionFit fit_factored_regression(const WeightedSequences& data,
                                              Index colours,
                                              double lambda,
                                              double bias_lambda,
                                              const LbfgsOptions& options) {
  FactoredRegression objective(data, colours, lambda, bias_lambda);
  const Index sites = data.sequences.cols();
  Eigen::VectorXd start = Eigen::VectorXd::Zero(objective.parameters());
  const FactoredAttention pair = leading_pair(data, colours);
  start.head(sites * sites) = pair.attention.reshaped();
  start.segment(sites * sites, colours * colours) = pair.values.reshaped();
  constexpr double kShare = 0.01;  // keeps colours that never occur finite
  start.tail(colours * sites) = independent_sites(data, colours, kShare).biases.reshaped();
  // The length along that direction which lowers the loss most, within a factor of 2.
  auto couplings = start.head(sites * sites + colours * colours);
  double best = objective(start.data(), nullptr);
  for (Eigen::VectorXd longer = start;;) {
    longer.head(couplings.size()) *= std::sqrt(2.0);
    const double value = objective(longer.data(), nullptr);
    if (!(value < best)) break;
    best = value;
    start = longer;
  }
  // In units of the square root of the curvature all directions matter alike.
  const Eigen::VectorXd unit =
      curvature(data, objective.unpacked(start.data()).attention, lambda, bias_lambda).cwiseSqrt();
  Eigen::VectorXd x(start.size());
  const auto is_settled = [&](const Eigen::VectorXd& scaled, const Eigen::VectorXd& of_scaled) {
    x = scaled.cwiseQuotient(unit);
    const Eigen::VectorXd gradient = of_scaled.cwiseProduct(unit);
    const Index a = sites * sites;
    const Index v = colours * colours;
    const Index b = x.size() - a - v;
    const double of_couplings = lambda / static_cast<double>(sites);
    const double of_fields = bias_lambda / static_cast<double>(sites);
    return settled(x.head(a), gradient.head(a), of_couplings * x.segment(a, v).squaredNorm()) &&
           settled(
               x.segment(a, v), gradient.segment(a, v), of_couplings * x.head(a).squaredNorm()) &&
           settled(x.tail(b), gradient.tail(b), of_fields);
  };
  const LbfgsResult end = minimise_lbfgs(
      [&](const double* scaled, double* gradient) {
        x = Map<const Eigen::VectorXd>(scaled, x.size()).cwiseQuotient(unit);
        const double value = objective(x.data(), gradient);
        if (gradient != nullptr) {
          Map<Eigen::VectorXd>(gradient, x.size()).array() /= unit.array();
        }
        return value;
      },
      start.cwiseProduct(unit),
      options,
      is_settled);
  x = end.x.cwiseQuotient(unit);
  return {.model = objective.unpacked(x.data()),
          .objective = end.value,
          .converged = end.converged,
          .iterations = end.iterations};
}

double pseudo_likelihood_loss(const BiasedAttention& model, const WeightedSequences& data) {
  FactoredRegression objective(data, model.attention.colours(), 0, 0);
  Eigen::VectorXd x(objective.parameters());
  x << model.attention.attention.reshaped(), model.attention.values.reshaped(),
      model.biases.reshaped();
  return objective(x.data(), nullptr);
}

}  // namespace attica
