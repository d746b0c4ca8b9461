#include "attica/solvers/multinomial_regression.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/softmax.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double cross_entropy(const MatrixXd& log_p,
                     const MatrixXd& targets,
                     const Eigen::Ref<const VectorXd>& weights) {
  return -(log_p.cwiseProduct(targets).colwise().sum() * weights).value();
}

/// H_(k,f),(l,g) = sum_n w_n B^T (diag p_n - p_n p_n^T) B [k, l] x_fn x_gn, f and g the slow index.
MatrixXd hessian(const MatrixXd& features,
                 const MatrixXd& p,
                 const VectorXd& weights,
                 const MatrixXd& basis) {
  const Index inputs = features.rows();
  const Index codes = basis.cols();
  MatrixXd h(inputs * codes, inputs * codes);
  const MatrixXd mean = p.transpose() * basis;
  for (Index k = 0; k < codes; ++k) {
    for (Index l = 0; l <= k; ++l) {
      const VectorXd both = p.transpose() * basis.col(k).cwiseProduct(basis.col(l));
      const VectorXd s = weights.cwiseProduct(both - mean.col(k).cwiseProduct(mean.col(l)));
      const MatrixXd block = (features * s.asDiagonal()) * features.transpose();
      for (Index f = 0; f < inputs; ++f) {
        for (Index g = 0; g < inputs; ++g) {
          h(f * codes + k, g * codes + l) = block(f, g);
          h(f * codes + l, g * codes + k) = block(f, g);
        }
      }
    }
  }
  return h;
}

MatrixXd log_probabilities(const MatrixXd& basis, const MatrixXd& codes, const MatrixXd& features) {
  MatrixXd log_p = basis * (codes * features);
  log_softmax_columns(log_p);
  return log_p;
}

/// With directions that are flat held.
Eigen::LDLT<MatrixXd> factored(MatrixXd h) {
  constexpr double kFlat = 1e-13;  // relative: a direction this flat is not moved along
  h.diagonal().array() += kFlat * h.trace() / static_cast<double>(h.rows());
  return h.ldlt();
}

/// Numbers of so many cases, at equal distances of cumulated weight, each once, and their shares.
std::pair<std::vector<Index>, VectorXd> sampled_evenly(const VectorXd& weights, Index draws) {
  std::vector<Index> chosen;
  std::vector<double> shares;
  const double part = weights.sum() / static_cast<double>(draws);
  double cumulated = 0;
  double next = part / 2;
  for (Index n = 0; n < weights.size(); ++n) {
    cumulated += weights[n];
    Index times = 0;
    for (; next <= cumulated; next += part) ++times;
    if (times == 0) continue;
    chosen.push_back(n);
    shares.push_back(static_cast<double>(times));
  }
  VectorXd normalised = VectorXd::Map(shares.data(), std::ssize(shares));
  normalised /= normalised.sum();
  return {std::move(chosen), std::move(normalised)};
}

}  // namespace

MultinomialFit fit_multinomial(const MatrixXd& features,
                               const MatrixXd& targets,
                               const VectorXd& weights,
                               const MultinomialOptions& options) {
  require(features.cols() >= 1 && targets.cols() == features.cols(),
          "targets",
          static_cast<double>(targets.cols()),
          "as many columns as the features, at least 1");
  require(weights.size() == features.cols(),
          "weights",
          static_cast<double>(weights.size()),
          "one for every column of the features");
  const VectorXd penalties =
      options.penalties.size() == 0 ? VectorXd::Zero(features.rows()) : options.penalties;
  require(penalties.size() == features.rows() && penalties.minCoeff() >= 0,
          "penalties",
          static_cast<double>(penalties.size()),
          "a number >= 0 for every feature, or none");
  const MatrixXd basis = zero_sum_basis(targets.rows());
  MatrixXd codes = MatrixXd::Zero(basis.cols(), features.rows());  // W = basis * codes
  // The basis is orthonormal: |W_:f| = |codes_:f|.
  const auto penalty = [&](const MatrixXd& c) {
    return 0.5 * penalties.dot(c.colwise().squaredNorm().transpose());
  };
  MatrixXd log_p = log_probabilities(basis, codes, features);
  MultinomialFit fit{.coefficients = {}, .loss = cross_entropy(log_p, targets, weights)};
  for (; fit.iterations < options.max_iterations; ++fit.iterations) {
    const MatrixXd p = log_p.array().exp();
    const MatrixXd gradient =
        basis.transpose() * (p - targets) * weights.asDiagonal() * features.transpose() +
        codes * penalties.asDiagonal();
    if (gradient.cwiseAbs().maxCoeff() < options.gradient_tolerance) {
      fit.converged = true;
      break;
    }
    MatrixXd h = hessian(features, p, weights, basis);
    for (Index f = 0; f < features.rows(); ++f) {
      h.diagonal().segment(f * codes.rows(), codes.rows()).array() += penalties[f];
    }
    const VectorXd step = factored(std::move(h)).solve(gradient.reshaped());
    const double slope = step.dot(gradient.reshaped());
    // Within rounding of the optimum the loss, a sum of many terms, no longer tells whether a step
    // is good.
    constexpr double kRounding = 1e-13;
    constexpr double kArmijo = 1e-4;
    constexpr double kSmallest = 1e-10;
    double length = 1;
    for (; length > kSmallest; length /= 2) {
      const MatrixXd next = codes - length * step.reshaped(codes.rows(), codes.cols());
      MatrixXd next_log_p = log_probabilities(basis, next, features);
      const double loss = cross_entropy(next_log_p, targets, weights) + penalty(next);
      if (loss <= fit.loss - kArmijo * length * slope + kRounding * std::abs(fit.loss)) {
        codes = next;
        log_p = std::move(next_log_p);
        fit.loss = loss;
        break;
      }
    }
    if (length <= kSmallest) break;
  }
  fit.coefficients = basis * codes;
  return fit;
}

MultinomialFit fit_multinomial(
    const VectorXd& weights,
    Index most,
    const std::function<MultinomialCases(std::span<const Index> numbers)>& cases,
    const MultinomialOptions& options) {
  const Index count = weights.size();
  require(count >= 1, "weights", static_cast<double>(count), "at least one case");
  require(most >= 1, "most", static_cast<double>(most), "at least 1");
  require(options.penalties.size() == 0,
          "penalties",
          static_cast<double>(options.penalties.size()),
          "none for a regression in pieces");
  std::vector<Index> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  const auto piece = [&](Index first) {
    return std::span<const Index>(numbers).subspan(
        static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(most, count - first)));
  };
  if (count <= most) {
    const MultinomialCases all = cases(piece(0));
    return fit_multinomial(all.features, all.targets, weights, options);
  }
  const auto [chosen, shares] = sampled_evenly(weights, most);
  const MultinomialCases sample = cases(chosen);
  MultinomialFit fit = fit_multinomial(sample.features, sample.targets, shares, options);
  if (!fit.converged) return fit;
  const MatrixXd basis = zero_sum_basis(sample.targets.rows());
  MatrixXd codes = basis.transpose() * fit.coefficients;
  const MatrixXd p = log_probabilities(basis, codes, sample.features).array().exp();
  const Eigen::LDLT<MatrixXd> curvature = factored(hessian(sample.features, p, shares, basis));
  fit.converged = false;
  double last = std::numeric_limits<double>::infinity();
  for (; fit.iterations < options.max_iterations; ++fit.iterations) {
    fit.loss = 0;
    MatrixXd gradient = MatrixXd::Zero(basis.cols(), sample.features.rows());
    for (Index first = 0; first < count; first += most) {
      const MultinomialCases some = cases(piece(first));
      const auto w = weights.segment(first, some.features.cols());
      const MatrixXd log_p = log_probabilities(basis, codes, some.features);
      fit.loss += cross_entropy(log_p, some.targets, w);
      const MatrixXd excess = log_p.array().exp() - some.targets.array();
      gradient += basis.transpose() * excess * w.asDiagonal() * some.features.transpose();
    }
    const double largest = gradient.cwiseAbs().maxCoeff();
    fit.converged = largest < options.gradient_tolerance;
    constexpr double kFall = 0.9;  // a sample that stands for all lets it fall much faster
    if (fit.converged || largest > kFall * last) break;
    last = largest;
    const VectorXd step = curvature.solve(gradient.reshaped());
    codes -= step.reshaped(gradient.rows(), gradient.cols());
  }
  fit.coefficients = basis * codes;
  return fit;
}

}  // namespace attica
