#include "attica/sim/potts/loss_quadratic.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <span>
#include <utility>

#include "attica/sim/potts/factored_attention.hpp"
#include "attica/sim/potts/pseudo_likelihood.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LossQuadratic::LossQuadratic(const WeightedSequences& population,
                             VectorXd at,
                             const LossGradient& gradient)
    : minimum(std::move(at)) {
  const Index size = minimum.size();
  MatrixXd covariance = MatrixXd::Zero(size, size);
  for (Index n = 0; n < population.sequences.rows(); ++n) {
    const VectorXd g = gradient(minimum, equally_weighted(population.sequences.row(n)));
    covariance += population.weights[n] * g * g.transpose();
  }
  constexpr double kStep = 1e-4;  // errors of the order of its square
  MatrixXd hessian(size, size);
  VectorXd x = minimum;
  for (Index k = 0; k < size; ++k) {
    x[k] = minimum[k] + kStep;
    const VectorXd above = gradient(x, population);
    x[k] = minimum[k] - kStep;
    hessian.col(k) = (above - gradient(x, population)) / (2 * kStep);
    x[k] = minimum[k];
  }
  const MatrixXd symmetric = (hessian + hessian.transpose()) / 2;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(symmetric);
  constexpr double kSmallestShare = 1e-6;  // below: directions of the gauge
  const VectorXd& steepness = eigen.eigenvalues();
  const double least = kSmallestShare * steepness[size - 1];
  inverse = eigen.eigenvectors() *
            (steepness.array() > least).select(1 / steepness.array(), 0).matrix().asDiagonal() *
            eigen.eigenvectors().transpose();
  trace = inverse.cwiseProduct(covariance).sum();
}

double LossQuadratic::scatter(const VectorXd& s, double samples) const {
  return s.dot(inverse * s) / 2 - trace / (2 * samples);
}

PottsQuadratics::PottsQuadratics(const PottsModel& model, const WeightedSequences& population)
    : sites_(model.sites()),
      colours_(model.colours()),
      factored_(population, student(model), factored_gradient()) {
  const PseudoLikelihoodFit fit = fit_pseudo_likelihood(population, colours_, 0);
  for (Index i = 0; i < sites_; ++i) {
    general_.emplace_back(population, fit.parameters.col(i), site_gradient(i));
  }
}

double PottsQuadratics::general_trace() const {
  double sum = 0;
  for (const LossQuadratic& site : general_) sum += site.trace;
  return sum / static_cast<double>(sites_);
}

double PottsQuadratics::factored_scatter(const WeightedSequences& data, double samples) const {
  return factored_.scatter(factored_gradient()(factored_.minimum, data), samples);
}

double PottsQuadratics::general_scatter(const WeightedSequences& data, double samples) const {
  double sum = 0;
  for (Index i = 0; i < sites_; ++i) {
    const LossQuadratic& site = general_[static_cast<std::size_t>(i)];
    sum += site.scatter(site_gradient(i)(site.minimum, data), samples);
  }
  return sum / static_cast<double>(sites_);
}

VectorXd PottsQuadratics::student(const PottsModel& model) const {
  FactoredNetwork<double> network(sites_, colours_);
  network.set(model.as_student());
  const std::span<double> x = network.parameters().values();
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size()));
}

LossGradient PottsQuadratics::factored_gradient() const {
  return [this](const VectorXd& x, const WeightedSequences& data) -> VectorXd {
    FactoredNetwork<double> network(sites_, colours_);
    const std::span<double> values = network.parameters().values();
    std::copy(x.begin(), x.end(), values.begin());
    // The diagonal of A is no parameter.
    for (Index i = 0; i < sites_; ++i) values[static_cast<std::size_t>(i * (sites_ + 1))] = 0;
    network.loss_and_gradient(data);
    return Eigen::Map<const VectorXd>(network.gradient().data(), x.size());
  };
}

LossGradient PottsQuadratics::site_gradient(Index i) const {
  return [this, i](const VectorXd& x, const WeightedSequences& data) -> VectorXd {
    VectorXd gradient(x.size());
    PseudoLikelihood(data, colours_, 0).site(i, x.data(), gradient.data());
    return gradient;
  };
}

}  // namespace attica
