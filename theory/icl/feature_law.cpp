#include "attica/theory/icl/feature_law.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Row = Eigen::Array<double, 1, Eigen::Dynamic>;

FeatureLaw::Nodes FeatureLaw::chi_squared(double degrees, int count) {
  // Gauss-Laguerre by the eigenvectors of the recurrence's matrix (Golub and Welsch 1969).
  const double a = degrees / 2 - 1;
  MatrixXd jacobi = MatrixXd::Zero(count, count);
  for (int i = 0; i < count; ++i) {
    jacobi(i, i) = 2 * i + a + 1;
    if (i > 0) jacobi(i, i - 1) = jacobi(i - 1, i) = std::sqrt(i * (i + a));
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> nodes(jacobi);
  return {nodes.eigenvalues().array() * 2 / degrees,
          nodes.eigenvectors().row(0).transpose().array().square()};
}

FeatureLaw::FeatureLaw(const MatrixXd& pool, const ContextNoise& context)
    : tasks_(pool.transpose()), rho_(context.rho) {
  constexpr int kContextNodes = 8;
  constexpr int kQueryNodes = 12;
  const auto d = static_cast<double>(pool.cols());
  label_square_ = tasks_.colwise().squaredNorm().array() / d + rho_;
  spread_ = label_square_ * d / context.length;
  context_ = chi_squared(context.length, kContextNodes);
  query_ = chi_squared(d, kQueryNodes);
}

FeatureLaw::Weighted FeatureLaw::weighted(const MatrixXd& k,
                                          double epsilon,
                                          const MatrixXd& gamma) const {
  const Index n = tasks_.rows();
  const auto d = static_cast<double>(n);
  // a = uᵀ(form)u - 2 ε wᵀΓu/d + ε|w|²/d, in the eigenbasis of the form's part in h.
  const MatrixXd form = k + epsilon / d * gamma.transpose() * gamma;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> basis(MatrixXd(form.topLeftCorner(n, n)));
  const MatrixXd& v = basis.eigenvectors();
  const ArrayXd kappa = basis.eigenvalues().array();
  const ArrayXXd tasks = (v.transpose() * tasks_).array();
  const Row squares = tasks.square().colwise().sum();
  const ArrayXd mixed = (v.transpose() * form.col(n).head(n)).array();
  const MatrixXd pull = -2 * epsilon / d * gamma.transpose() * tasks_;  // of u, a task a column
  const ArrayXXd pull_h = (v.transpose() * pull.topRows(n)).array();

  // φ = ∫ e^{-τa} E_x e^{-τ(1 + ερ)/|x|²} dτ: trapezoids in ln τ, from where nothing is missed to
  // where nothing is left: where K has few dimensions, e^{-τa} dies out late.
  constexpr double kStep = 0.6;
  constexpr double kLowest = -12;
  constexpr double kDead = 1e-14;
  const double mean_a =
      kappa.sum() * spread_.mean() + (tasks.square().colwise() * kappa).colwise().sum().mean();
  Weighted sum{MatrixXd::Zero(n + 1, n + 1), MatrixXd::Zero(n, n + 1)};
  // A column is a task at a node of its labels' square; so many tasks that arrays stay in cache.
  constexpr Index kTasksTogether = 8;
  const Index nodes = context_.at.size();
  ArrayXXd covariance, along, force, shift;
  MatrixXd u, weighted_u;
  for (Index first = 0; first < tasks_.cols(); first += kTasksTogether) {
    const Index count = std::min(kTasksTogether, tasks_.cols() - first);
    const auto spread_out = [&](const auto& of_tasks) {
      return of_tasks.middleCols(first, count).replicate(1, nodes).eval();
    };
    Row at(count * nodes), node_weight(count * nodes);
    for (Index c = 0; c < nodes; ++c) {
      at.segment(c * count, count).setConstant(context_.at(c));
      node_weight.segment(c * count, count)
          .setConstant(context_.weight(c) / static_cast<double>(tasks_.cols()));
    }
    // h is Gaussian with mean cw and covariance s(1 - wwᵀ/(w² + dρ)); times e^{-τa} it is Gaussian
    // again. dρ + ... below is what stays finite without noise.
    const ArrayXXd w = spread_out(tasks);
    const Row square = spread_out(squares);
    const Row spread = spread_out(spread_);
    const Row label_square = spread_out(label_square_);
    const Row g = label_square * at;
    const Row inverse = 1 / (spread * at);
    const ArrayXXd unit_force =
        -((2 * mixed).matrix() * g.matrix() + spread_out(pull_h).matrix()).array();
    const Row pulled =
        g.square() * form(n, n) + g * spread_out(Row(pull.row(n).array())) + epsilon / d * square;
    double most = 0;
    for (double y = kLowest;; y += kStep) {
      const double tau = std::exp(y) / (1 + mean_a);
      const double of_query =
          (query_.weight * (-tau * (1 + epsilon * rho_) / query_.at).exp()).sum() * kStep * tau;
      if (of_query == 0) break;
      covariance = ((2 * tau * kappa).replicate(1, w.cols()).rowwise() + inverse).inverse();
      along = covariance * w;
      const Row overlap = (along * w).colwise().sum() * inverse;
      // square - overlap over 2τ, of which nothing is left by rounding where contexts are long
      const Row lost = (along * w).matrix().transpose() * kappa.matrix();
      const Row denominator = d * rho_ + overlap;
      const Row lean = d * label_square / spread / denominator;
      force = tau * unit_force;
      const Row work = (along * force).colwise().sum();
      shift = covariance * force - along.rowwise() * (inverse / denominator * work);
      const Row exponent =
          (-2 * tau * d * g / spread * lost / denominator + (force * shift).colwise().sum()) / 2 +
          work * lean - tau * pulled;
      const Row volume =
          ((covariance.rowwise() * inverse).colwise().prod() * ((d * rho_ + square) / denominator))
              .log();
      const Row weight = of_query * node_weight * (exponent + volume / 2).exp();
      const double all = weight.sum();
      if (all < kDead * most) break;
      most = std::max(most, all);
      u.resize(n + 1, w.cols());
      u.topRows(n) = (along.rowwise() * lean + shift).matrix();
      u.row(n) = g.matrix();
      weighted_u = (u.array().rowwise() * weight).matrix();
      sum.second.noalias() += weighted_u * u.transpose();
      sum.second.topLeftCorner(n, n).noalias() -=
          (along.rowwise() * (weight * inverse / denominator)).matrix() *
          along.matrix().transpose();
      sum.second.topLeftCorner(n, n).diagonal().array() +=
          (covariance.rowwise() * weight).rowwise().sum();
      sum.cross.noalias() += w.matrix() * weighted_u.transpose();
    }
  }
  MatrixXd back = MatrixXd::Identity(n + 1, n + 1);
  back.topLeftCorner(n, n) = v;
  return {back * sum.second * back.transpose(), v * sum.cross * back.transpose()};
}

namespace {

/// Root of x = map(x) by Anderson's method (1965): the combination of the last steps whose residual
/// is least.
template <class Map>
MatrixXd fixed_point(MatrixXd x, double tolerance, const Map& map) {
  constexpr std::size_t kMemory = 5;
  constexpr int kMostSteps = 200;
  std::vector<MatrixXd> points, residuals;
  for (int step = 0; step < kMostSteps; ++step) {
    const MatrixXd image = map(x);
    points.push_back(x);
    residuals.emplace_back(image - x);
    if (!(residuals.back().cwiseAbs().maxCoeff() > tolerance * x.cwiseAbs().maxCoeff())) {
      if (!image.allFinite()) break;
      return image;
    }
    if (points.size() > kMemory + 1) {
      points.erase(points.begin());
      residuals.erase(residuals.begin());
    }
    MatrixXd next = image;
    if (const auto m = static_cast<Index>(points.size()) - 1; m > 0) {
      MatrixXd steps(x.size(), m), changes(x.size(), m);
      for (Index j = 0; j < m; ++j) {
        const auto from = static_cast<std::size_t>(j);
        steps.col(j) = (points.back() - points[from]).reshaped();
        changes.col(j) = (residuals.back() - residuals[from]).reshaped();
      }
      const VectorXd share =
          changes.colPivHouseholderQr().solve(VectorXd(residuals.back().reshaped()));
      next.reshaped() -= (steps + changes) * share;
      // Not beyond the matrices that are positive definite.
      if (Eigen::LLT<MatrixXd>(next - 0.3 * image).info() != Eigen::Success) next = image;
    }
    x = std::move(next);
  }
  throw Error(ErrorKind::numerical,
              "in-context ridge: the equations of the features' law have no solution within reach; "
              "level gaussian needs none");
}

}  // namespace

RidgeOfFeatures ridge_of_features(const FeatureLaw& law,
                                  double samples,
                                  double lambda,
                                  const ContextMoments& moments,
                                  double weight) {
  const Index n = moments.second.rows();
  const double inputs = samples / static_cast<double>(n - 1);
  const MatrixXd penalty = MatrixXd::Identity(n, n) * lambda;
  const auto inverse = [&](const MatrixXd& x) -> MatrixXd {
    return x.llt().solve(MatrixXd::Identity(n, n));
  };
  // x = λ + E φ uuᵀ, K = (n x/d)⁻¹
  const auto solve =
      [&](const MatrixXd& x, double tolerance, double epsilon, const MatrixXd& gamma) {
        return fixed_point(x, tolerance, [&](const MatrixXd& at) -> MatrixXd {
          return penalty + law.weighted(inverse(inputs * at), epsilon, gamma).second;
        });
      };
  constexpr double kTolerance = 1e-9;
  constexpr double kFine = 1e-10;  // differences lose three digits
  constexpr double kDifference = 1e-3;
  const MatrixXd none = MatrixXd::Zero(n - 1, n);
  const MatrixXd x = solve(penalty + weight * moments.second, kTolerance, 0, none);
  const MatrixXd k = inverse(inputs * x);
  const FeatureLaw::Weighted weighted = law.weighted(k, 0, none);
  const MatrixXd gamma = weighted.cross * inverse(penalty + weighted.second);
  const double epsilon = kDifference / population_error(gamma, moments);  // q changes by as much
  const MatrixXd above = inverse(inputs * solve(x, kFine, epsilon, gamma));
  const MatrixXd below = inverse(inputs * solve(x, kFine, -epsilon, gamma));
  return {gamma, (above - below) / (2 * epsilon)};
}

}  // namespace attica
