#include "attica/sim/icl/ridge.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// d of d(d+1) features.
Index dimension_of(Index features) {
  return static_cast<Index>(std::sqrt(static_cast<double>(features)));
}

MatrixXd as_gamma(const VectorXd& weights, Index d) {
  return Eigen::Map<const MatrixXd>(weights.data(), d, d + 1);
}

}  // namespace

ContextRidge::ContextRidge(const ContextSequences& sequences)
    : sequences_(sequences),
      dimension_(dimension_of(sequences.features.rows())),
      wide_(sequences.features.cols() < sequences.features.rows()) {
  const MatrixXd& f = sequences.features;
  const Index side = std::min(f.rows(), f.cols());
  if (wide_) {
    // <x h^T, x' h'^T> = (x·x') (h·h'): n² d multiplications in place of n² d².
    gram_.noalias() = sequences.queries.transpose() * sequences.queries;
    gram_.array() *= (sequences.contexts.transpose() * sequences.contexts).array();
  } else {
    gram_ = MatrixXd::Zero(side, side);
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(f);
    cross_ = f * sequences.labels;
  }
}

MatrixXd ContextRidge::fit(double lambda) const {
  require(lambda >= 0, "lambda", lambda, "lambda >= 0");
  const MatrixXd& f = sequences_.features;
  if (lambda == 0) {
    const Eigen::CompleteOrthogonalDecomposition<MatrixXd> pivoted(f.transpose());
    const VectorXd weights = pivoted.solve(sequences_.labels);
    return as_gamma(weights, dimension_);
  }
  MatrixXd shifted = gram_;
  shifted.diagonal().array() +=
      lambda * static_cast<double>(f.cols()) / static_cast<double>(dimension_);
  const Eigen::LLT<Eigen::Ref<MatrixXd>> factor(shifted);  // in place
  if (factor.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical,
                fmt::format("in-context ridge: factorisation failed at lambda = {}, n = {}: the "
                            "penalty is lost in the rounding of a singular Gram matrix",
                            lambda,
                            f.cols()));
  }
  if (!wide_) return as_gamma(factor.solve(cross_), dimension_);
  const VectorXd dual = factor.solve(sequences_.labels);
  return as_gamma(f * dual, dimension_);
}

double ContextRidge::bytes(double dimension, double samples) {
  const double features = dimension * (dimension + 1);
  const double side = std::min(features, samples);
  const double sequence = 2 * dimension + 2;  // query, context, label
  return sizeof(double) * (samples * (features + sequence) + 2 * side * side);
}

double ContextRidge::flops(double dimension, double samples, double penalties) {
  constexpr double kNormal = 30;  // a normal number in multiplications
  const double features = dimension * (dimension + 1);
  const double side = std::min(features, samples);
  const double gram = samples < features ? 4 * dimension * side * side : samples * features * side;
  return gram + penalties * side * side * side / 3 + 2 * kNormal * samples * dimension;
}

std::int64_t descend(const ContextSequences& sequences,
                     const ContextDescent& descent,
                     RandomStream& stream,
                     const std::function<bool(std::int64_t, const MatrixXd&)>& record) {
  constexpr double kStart = 0.01;
  const MatrixXd& f = sequences.features;
  const Index d = dimension_of(f.rows());
  const auto dim = static_cast<double>(d);
  const auto n = static_cast<double>(f.cols());
  VectorXd m(f.rows());
  double v = 1;
  if (descent.start) {
    v = descent.start->v;
    m = descent.start->m.reshaped();
  } else {
    for (double& entry : m) entry = kStart * stream.normal();
  }
  // All sequences: the gradient needs their moments only.
  MatrixXd second;
  VectorXd first;
  if (descent.batch == 0) {
    second = dim / n * (f * f.transpose());
    first = dim / n * (f * sequences.labels);
  }
  const auto length = static_cast<double>(descent.steps.back());
  VectorXd gradient(f.rows());
  std::int64_t step = 0;
  for (const std::int64_t recorded : descent.steps) {
    for (; step < recorded; ++step) {
      double eta = descent.eta;
      if (descent.batch == 0) {
        gradient.noalias() = v * (second * m);
        gradient -= first;
      } else {
        eta *= (1 + std::cos(std::numbers::pi * static_cast<double>(step) / length)) / 2;
        gradient.setZero();
        for (Index b = 0; b < descent.batch; ++b) {
          const auto mu = static_cast<Index>(stream.below(static_cast<std::uint64_t>(f.cols())));
          gradient += (v * f.col(mu).dot(m) - sequences.labels(mu)) * f.col(mu);
        }
        gradient *= dim / static_cast<double>(descent.batch);
      }
      gradient += descent.lambda * v * m;
      const double slope = gradient.dot(m);
      m -= eta * v * gradient;
      v -= eta / dim * slope;
    }
    const VectorXd weights = v * m;
    if (!weights.allFinite()) return step;
    if (!record(step, as_gamma(weights, d))) return 0;
  }
  return 0;
}

}  // namespace attica
