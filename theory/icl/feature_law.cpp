#include "attica/theory/icl/feature_law.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

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
  // Long contexts spread little.
  const int context_nodes =
      std::clamp(2 + static_cast<int>(std::ceil(32 / std::sqrt(context.length))), 4, 16);
  constexpr int kQueryNodes = 16;
  constexpr double kRounding = 1e-12;
  const auto d = static_cast<double>(pool.cols());
  label_square_ = tasks_.colwise().squaredNorm().array() / d + rho_;
  spread_ = label_square_ * d / context.length;
  alike_ = spread_.maxCoeff() - spread_.minCoeff() <= kRounding * spread_.maxCoeff();
  context_ = chi_squared(context.length, context_nodes);
  query_ = chi_squared(d, kQueryNodes);
}

namespace {

constexpr double kRateStep = 0.6;  ///< of trapezoids in ln τ

ArrayXXd outer(const ArrayXd& column, const Row& row) { return column.matrix() * row.matrix(); }

}  // namespace

ArrayXXd FeatureLaw::query_shares(const ArrayXd& rates, double epsilon) const {
  ArrayXXd shares(rates.size(), spread_.size());
  for (Index t = 0; t < spread_.size(); ++t) {
    for (Index a = 0; a < rates.size(); ++a) {
      const double tau = rates(a) / spread_(t);
      shares(a, t) =
          t > 0 && alike_
              ? shares(a, 0)
              : (query_.weight * (-tau * (1 + epsilon * rho_) / query_.at).exp()).sum() * tau;
    }
  }
  return shares * (kRateStep / static_cast<double>(spread_.size()));
}

// Given its task and x = χ²_l/l, h is Gaussian with mean cw and covariance sx(1 - wwᵀ/(w² + dρ)).
// Times e^{-τa} it is Gaussian again, of covariance C - Cw(Cw)ᵀ/(sx denominator). In the eigenbasis
// of the form's part in h, C = s D with D = 1/(2θκ + 1/x) diagonal and θ = sτ: on a grid of θ it is
// the same for all tasks, and sums over tasks and over nodes (θ, x) are products of matrices. A row
// is a node, a column a task.
FeatureLaw::Weighted FeatureLaw::weighted(const MatrixXd& k,
                                          double epsilon,
                                          const MatrixXd& gamma) const {
  const Index n = tasks_.rows();
  const auto d = static_cast<double>(n);
  // a = uᵀ(form)u - 2 ε wᵀΓu/d + ε|w|²/d: e^{-τa} pushes h by -τ(g push + pull).
  const MatrixXd form = k + epsilon / d * gamma.transpose() * gamma;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> basis(MatrixXd(form.topLeftCorner(n, n)));
  const MatrixXd& v = basis.eigenvectors();
  const VectorXd& kappa = basis.eigenvalues();
  const VectorXd push = 2 * v.transpose() * form.col(n).head(n);
  const MatrixXd tasks = v.transpose() * tasks_;
  const MatrixXd pull_u = -2 * epsilon / d * gamma.transpose() * tasks_;
  const bool pulls = epsilon != 0;
  const double mean_a =
      kappa.sum() * spread_.mean() + (kappa.transpose() * tasks.cwiseAbs2()).mean();

  // φ = ∫ e^{-τa} E_x e^{-τ(1 + ερ)/|x|²} dτ: trapezoids in ln τ until nothing is left: where K has
  // few dimensions, e^{-τa} dies out late. Below the lowest node the integrand is τ times its
  // limit, so that the nodes there are a geometric series.
  constexpr double kLowest = -9;
  constexpr double kDead = 1e-14;
  constexpr Index kRates = 4;  // together
  const Index nodes = context_.at.size();
  const Index rows = kRates * nodes;
  const ArrayXd x = context_.at.replicate(kRates, 1);
  const Index pairs = n * (n + 1) / 2;
  MatrixXd products(rows, pairs);  // D_i D_j, j <= i
  constexpr Index kMostNumbers = 1 << 20;
  const Index together = std::max<Index>(1, kMostNumbers / (3 * pairs));
  Weighted sum{MatrixXd::Zero(n + 1, n + 1), MatrixXd::Zero(n, n + 1)};
  MatrixXd second = MatrixXd::Zero(n, n);  // of h, in its lower half
  VectorXd second_g = VectorXd::Zero(n);   // of h and g
  for (Index first = 0; first < tasks.cols(); first += together) {
    const Index count = std::min(together, tasks.cols() - first);
    const MatrixXd w = tasks.middleCols(first, count);
    const MatrixXd p = v.transpose() * pull_u.topRows(n).middleCols(first, count);
    const MatrixXd w_square = w.cwiseAbs2();
    const MatrixXd w_lost = kappa.asDiagonal() * w_square;
    const MatrixXd w_p = w.cwiseProduct(p);
    const MatrixXd p_square = p.cwiseAbs2();
    const Row s = spread_.segment(first, count);
    const Row label_square = label_square_.segment(first, count);
    const Row square = w_square.colwise().sum().array();
    const ArrayXXd g = outer(x, label_square);
    const ArrayXXd inverse = outer(1 / x, 1 / s);
    const ArrayXXd pulled = g.square() * form(n, n) +
                            g.rowwise() * pull_u.row(n).segment(first, count).array() +
                            (epsilon / d * square).replicate(rows, 1);
    // Sums over nodes of what stands before D_i D_j, before D_i and before g, for every task.
    MatrixXd of_products = MatrixXd::Zero(pairs, (pulls ? 3 : 1) * count);
    MatrixXd of_axes = MatrixXd::Zero(n, 5 * count);
    Row of_g = Row::Zero(count);
    MatrixXd before_products(rows, of_products.cols());
    MatrixXd before_axes(rows, of_axes.cols());
    const auto part = [count](MatrixXd& all, Index kind) {
      return all.middleCols(kind * count, count).array();
    };
    double most = 0;
    for (double y = kLowest;; y += kRates * kRateStep) {
      const ArrayXd rates = (y + kRateStep * ArrayXd::LinSpaced(kRates, 0, kRates - 1)).exp() *
                            (spread_.mean() / (1 + mean_a));
      ArrayXXd shares = query_shares(rates, epsilon).middleCols(first, count);
      if (shares.maxCoeff() == 0) break;
      if (y == kLowest) shares.row(0) /= 1 - std::exp(-kRateStep);
      ArrayXd theta(rows);
      ArrayXXd share(rows, count);
      for (Index a = 0; a < kRates; ++a) {
        theta.segment(a * nodes, nodes).setConstant(rates(a));
        share.middleRows(a * nodes, nodes) = outer(context_.weight, shares.row(a));
      }
      const ArrayXXd tau = outer(theta, 1 / s);
      const MatrixXd diagonal =
          (outer(2 * theta, kappa.transpose().array()).colwise() + 1 / x).inverse();
      const MatrixXd pushed = diagonal * push.asDiagonal();
      const ArrayXd volume = (diagonal.array().colwise() / x).rowwise().prod().log();
      const ArrayXXd overlap = (diagonal * w_square).array().colwise() / x;
      // square - overlap over 2θ, of which nothing is left by rounding where contexts are long
      const ArrayXXd lost = diagonal * w_lost;
      const ArrayXXd denominator = d * rho_ + overlap;
      const ArrayXXd shrunk = inverse / denominator;
      const ArrayXXd lean = denominator.inverse().rowwise() * (d * label_square / s);
      ArrayXXd work = g * (pushed * w).array();
      ArrayXXd force = g.square().colwise() * (pushed * push).array();
      if (pulls) {
        work += (diagonal * w_p).array();
        force += 2 * g * (pushed * p).array() + (diagonal * p_square).array();
      }
      work.colwise() *= -theta;
      force *= tau.colwise() * theta;
      const ArrayXXd exponent = (force - shrunk * work.square()) / 2 + work * lean -
                                tau * (pulled + d * g * lost / denominator);
      const ArrayXXd weight = share * (exponent.colwise() + volume / 2).exp() *
                              (denominator.inverse().rowwise() * (d * rho_ + square)).sqrt();
      // u = C(along w - τ(g push + p)) in h and g besides.
      const ArrayXXd along = lean - shrunk * work;
      const ArrayXXd heavy = weight.rowwise() * s;
      const ArrayXXd late = weight.colwise() * theta;
      const ArrayXXd later = late.colwise() * theta;
      const ArrayXXd across = (late * along).rowwise() * -s;
      part(before_products, 0) = (along.square() - shrunk) * (heavy.rowwise() * s);
      if (pulls) {
        part(before_products, 1) = across;
        part(before_products, 2) = later;
      }
      part(before_axes, 0) = heavy * along;
      part(before_axes, 1) = heavy * along * g;
      part(before_axes, 2) = late;
      part(before_axes, 3) = late * g;
      part(before_axes, 4) = late * g.square();
      for (Index i = 0, at = 0; i < n; at += ++i) {
        products.middleCols(at, i + 1) = diagonal.col(i).asDiagonal() * diagonal.leftCols(i + 1);
      }
      of_products.noalias() += products.transpose() * before_products;
      of_axes.noalias() += diagonal.transpose() * before_axes;
      of_g += (weight * g).colwise().sum();
      // Terms with the push, which is the same for all tasks.
      const MatrixXd across_g = across * g;
      MatrixXd before_push = across_g * w.transpose();
      before_push.noalias() += (later * g.square()).rowwise().sum().matrix() / 2 * push.transpose();
      if (pulls) {
        const MatrixXd later_g = later * g;
        before_push += later_g * p.transpose();
      }
      const MatrixXd by_axis = diagonal.cwiseProduct(before_push);
      const MatrixXd by_push = by_axis.transpose() * pushed;
      second += by_push + by_push.transpose();
      second.diagonal() += diagonal.transpose() * heavy.rowwise().sum().matrix();
      sum.second(n, n) += (weight * g.square()).sum();
      most = std::max(most, weight.sum());
      if (weight.bottomRows(nodes).sum() < kDead * most) break;
    }
    for (Index i = 0, at = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j, ++at) {
        const auto times = [&](Index kind, const auto& a, const auto& b) {
          return (part(of_products, kind).row(at) * a.array() * b.array()).sum();
        };
        second(i, j) += times(0, w.row(i), w.row(j));
        if (!pulls) continue;
        second(i, j) += times(1, w.row(i), p.row(j)) + times(1, p.row(i), w.row(j)) +
                        times(2, p.row(i), p.row(j));
      }
    }
    const auto mean = [&](Index along, Index late) -> MatrixXd {
      return part(of_axes, along) * w.array() - part(of_axes, late) * p.array() -
             part(of_axes, late + 1).colwise() * push.array();
    };
    sum.cross.leftCols(n) += w * mean(0, 2).transpose();
    sum.cross.col(n) += w * of_g.matrix().transpose();
    second_g += mean(1, 3).rowwise().sum();
  }
  sum.second.topLeftCorner(n, n) = second.selfadjointView<Eigen::Lower>();
  sum.second.col(n).head(n) = second_g;
  sum.second.row(n).head(n) = second_g.transpose();
  MatrixXd back = MatrixXd::Identity(n + 1, n + 1);
  back.topLeftCorner(n, n) = v;
  return {back * sum.second * back.transpose(), v * sum.cross * back.transpose()};
}

namespace {

/// Roots of x = map(x) by Anderson's method (1965): the combination of the last steps whose
/// residual is least. Steps are kept from root to root: maps that differ little share their slopes.
class FixedPoints {
 public:
  template <class Map>
  MatrixXd root(MatrixXd x, double tolerance, const Map& map) {
    constexpr int kMostSteps = 200;
    MatrixXd before, residual_before;
    for (int step = 0; step < kMostSteps; ++step) {
      const MatrixXd image = map(x);
      const MatrixXd residual = image - x;
      if (!(residual.cwiseAbs().maxCoeff() > tolerance * x.cwiseAbs().maxCoeff())) {
        if (!image.allFinite()) break;
        return image;
      }
      if (step > 0) keep(x - before, residual - residual_before);
      MatrixXd next = image;
      if (const auto m = static_cast<Index>(steps_.size()); m > 0) {
        MatrixXd moved(x.size(), m), changed(x.size(), m);
        for (Index j = 0; j < m; ++j) {
          moved.col(j) = steps_[static_cast<std::size_t>(j)].reshaped();
          changed.col(j) = changes_[static_cast<std::size_t>(j)].reshaped();
        }
        const VectorXd share = changed.colPivHouseholderQr().solve(VectorXd(residual.reshaped()));
        next.reshaped() -= (moved + changed) * share;
        // Not beyond the matrices that are positive definite.
        const MatrixXd beyond = next - 0.3 * image;
        if (Eigen::LLT<MatrixXd>(beyond).info() != Eigen::Success) next = image;
      }
      before = std::exchange(x, std::move(next));
      residual_before = residual;
    }
    throw Error(ErrorKind::numerical,
                "in-context ridge: the equations of the features' law have no solution within "
                "reach; level gaussian needs none");
  }

 private:
  void keep(MatrixXd step, MatrixXd change) {
    constexpr std::size_t kMemory = 8;
    if (steps_.size() == kMemory) {
      steps_.erase(steps_.begin());
      changes_.erase(changes_.begin());
    }
    steps_.push_back(std::move(step));
    changes_.push_back(std::move(change));
  }

  std::vector<MatrixXd> steps_, changes_;  ///< of x and of its residual
};

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
  FixedPoints points;
  const auto solve =
      [&](const MatrixXd& x, double tolerance, double epsilon, const MatrixXd& gamma) {
        return points.root(x, tolerance, [&](const MatrixXd& at) -> MatrixXd {
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
  const MatrixXd x_above = solve(x, kFine, epsilon, gamma);
  const MatrixXd above = inverse(inputs * x_above);
  const MatrixXd below = inverse(inputs * solve(2 * x - x_above, kFine, -epsilon, gamma));
  return {gamma, (above - below) / (2 * epsilon)};
}

}  // namespace attica
