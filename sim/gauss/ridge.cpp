#include "attica/sim/gauss/ridge.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Below it a site has no component in the kernel of S.
constexpr double kNoComponent = 1e-10;

}  // namespace

MatrixXd gaussian_samples(const MatrixXd& factor, bool lower, Index samples, RandomStream& stream) {
  MatrixXd white(samples, factor.cols());
  stream.fill_normal(std::span(white.data(), static_cast<std::size_t>(white.size())));
  if (lower) return white * factor.transpose().triangularView<Eigen::Upper>();
  return white * factor.transpose();
}

MatrixXd resampled_rows(const MatrixXd& rows, Index samples, RandomStream& stream) {
  MatrixXd drawn(samples, rows.cols());
  for (Index mu = 0; mu < samples; ++mu) {
    drawn.row(mu) =
        rows.row(static_cast<Index>(stream.below(static_cast<std::uint64_t>(rows.rows()))));
  }
  return drawn;
}

RidgeFits::RidgeFits(const MatrixXd& data, const MatrixXd& factor)
    : samples_(data.rows()), wide_(data.rows() < data.cols()), factor_(factor) {
  const double scale = 1.0 / static_cast<double>(samples_);
  const Index side = std::min(data.rows(), data.cols());
  MatrixXd gram = MatrixXd::Zero(side, side);
  if (wide_) {
    gram.selfadjointView<Eigen::Lower>().rankUpdate(data, scale);
  } else {
    gram.selfadjointView<Eigen::Lower>().rankUpdate(data.transpose(), scale);
  }
  const Eigen::Tridiagonalization<MatrixXd> reduced(gram);
  diagonal_ = reduced.diagonal();
  subdiagonal_ = reduced.subDiagonal();
  u_ = reduced.matrixQ();
  if (wide_) u_ = std::sqrt(scale) * data.transpose() * u_;
  uf_ = u_.transpose() * factor_;
}

RidgeFits::Solution RidgeFits::solve(double lambda) const {
  const Index n = diagonal_.size();
  Solution s{.y = u_, .overlap = VectorXd::Zero(u_.rows()), .norm2 = VectorXd::Zero(u_.rows())};
  // T + lambda = (1 + l) diag(p) (1 + l)^T with l below the diagonal only.
  VectorXd pivot(n);
  VectorXd l(n);
  for (Index k = 0; k < n; ++k) {
    pivot(k) = diagonal_(k) + lambda;
    if (k > 0) {
      l(k - 1) = subdiagonal_(k - 1) / pivot(k - 1);
      pivot(k) -= l(k - 1) * subdiagonal_(k - 1);
      s.y.col(k) -= l(k - 1) * s.y.col(k - 1);
    }
    if (!(pivot(k) > 0)) {
      throw Error(ErrorKind::numerical,
                  fmt::format("ridge: factorisation failed at lambda = {}, M = {}: the penalty is "
                              "lost in the rounding of a singular Gram matrix",
                              lambda,
                              samples_));
    }
  }
  for (Index k = n - 1; k >= 0; --k) {
    s.y.col(k) /= pivot(k);
    if (k + 1 < n) s.y.col(k) -= l(k) * s.y.col(k + 1);
    s.overlap += u_.col(k).cwiseProduct(s.y.col(k));
    s.norm2 += s.y.col(k).cwiseAbs2();
  }
  return s;
}

RidgeFits::Projector RidgeFits::projector() const {
  Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum;
  spectrum.computeFromTridiagonal(diagonal_, subdiagonal_);
  if (spectrum.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical,
                fmt::format("ridge: eigendecomposition failed at M = {}", samples_));
  }
  const Index sites = u_.rows();
  const VectorXd& s = spectrum.eigenvalues();
  const double tolerance = static_cast<double>(std::max(samples_, sites)) *
                           std::numeric_limits<double>::epsilon() * s(s.size() - 1);
  const Index rank = (s.array() > tolerance).count();
  const VectorXd positive = s.tail(rank);
  // Right singular vectors of Z / sqrt(M) with positive singular value, L x rank.
  MatrixXd v = u_ * spectrum.eigenvectors().rightCols(rank);
  if (wide_) v *= positive.cwiseSqrt().cwiseInverse().asDiagonal();
  Projector result{.g = -(v * v.transpose()), .train_top = VectorXd::Zero(sites), .kernel = {}};
  result.g.diagonal().array() += 1.0;
  result.kernel = result.g;
  // A site that the kernel of S does not reach is determined by the others' samples: use the
  // pseudo-inverse S^+, for which S^+ S S^+ = S^+.
  for (Index i = 0; i < sites; ++i) {
    if (result.g(i, i) > kNoComponent) continue;
    result.g.row(i) = v * positive.cwiseInverse().asDiagonal() * v.row(i).transpose();
    result.train_top(i) = result.g(i, i);
  }
  return result;
}

RidgeFits::Inverse RidgeFits::inverse(double lambda) const {
  require(lambda >= 0, "lambda", lambda, "lambda >= 0");
  if (lambda == 0) {
    const Projector p = projector();
    return {p.g.diagonal(), p.g * factor_, p.train_top, p.g.rowwise().squaredNorm()};
  }
  const Solution s = solve(lambda);
  if (wide_) {
    // With K = Z Z^T / M = Q T Q^T: lambda G = 1 - Z^T (K + lambda)^{-1} Z / M = 1 - Y U^T, and
    // [G S G]_ii = |Y_i|^2. Everything is multiplied by lambda, which the ratios do not see;
    // lambda^2 G G = lambda G - lambda^2 G S G.
    return {VectorXd::Ones(u_.rows()) - s.overlap,
            factor_ - s.y * uf_,
            lambda * lambda * s.norm2,
            VectorXd::Ones(u_.rows()) - s.overlap - lambda * s.norm2};
  }
  // S = Q T Q^T: G = Y Q^T, [G G]_ii = |Y_i|^2 and G S G = G - lambda G G, whose rounding is far
  // below the train error except where that is zero anyway.
  return {s.overlap, s.y * uf_, (s.overlap - lambda * s.norm2).cwiseMax(0.0), s.norm2};
}

RidgeFit RidgeFits::fit_from(const Inverse& inverse) const {
  const auto& [g, gf, train_top, norm2] = inverse;
  // Row i of A F is that of F - G F / G_ii; Sigma = F F^T.
  const MatrixXd af = factor_ - g.cwiseInverse().asDiagonal() * gf;
  const Eigen::ArrayXd g2 = g.array().square();
  return {.test = gf.rowwise().squaredNorm().array() / g2,
          .train = train_top.array() / g2,
          .overlap_m = af.cwiseProduct(factor_).rowwise().sum(),
          .overlap_q = af.rowwise().squaredNorm(),
          .weight_norm2 = norm2.array() / g2 - 1.0};
}

RidgeFit RidgeFits::fit(double lambda) const { return fit_from(inverse(lambda)); }

BestPredictors::BestPredictors(const GaussianMlm& problem)
    : noise_variances(problem.noise_variances()) {
  require(problem.rank() == problem.sites(),
          "covariance",
          static_cast<double>(problem.rank()),
          "full rank");
  const MatrixXd factor = problem.factor();
  inverse_factor =
      factor.triangularView<Eigen::Lower>().solve(MatrixXd::Identity(factor.rows(), factor.cols()));
  precision = inverse_factor.transpose() * inverse_factor;
}

// Without noise a_i - w*_i = -lambda G_i w*_i, where G_i is the inverse for the inputs alone: by
// block inversion G_i v = G v - G e_i (G v)_i / G_ii for v without component i. With
// w*_i = e_i - sigma_i^2 P e_i, P the precision matrix, it is lambda sigma_i^2 times
//   G P e_i - G e_i (G P)_ii / G_ii.
RidgeSplit RidgeFits::split(double lambda, const BestPredictors& best) const {
  const Inverse all = inverse(lambda);
  const auto sigma2 = best.noise_variances.asDiagonal();
  RidgeSplit result{.fit = fit_from(all), .signal = {}, .noise = {}};
  const auto signal = [&](const VectorXd& g, const MatrixXd& gf, double scale, double least) {
    MatrixXd pgf = best.precision * gf;
    const VectorXd pg = pgf.cwiseProduct(best.inverse_factor.transpose()).rowwise().sum();
    const VectorXd share = (g.array() > least).select(pg.cwiseQuotient(g), 0.0);
    pgf.noalias() -= share.asDiagonal() * gf;
    return MatrixXd(scale * (sigma2 * pgf));
  };
  if (lambda == 0) {
    const MatrixXd kernel = projector().kernel;  // the limit of lambda G
    result.signal = signal(kernel.diagonal(), kernel * factor_, 1.0, kNoComponent);
  } else {
    result.signal = signal(all.g, all.gf, wide_ ? 1.0 : lambda, 0.0);
  }
  result.noise = sigma2 * best.inverse_factor.transpose();
  result.noise -= all.g.cwiseInverse().asDiagonal() * all.gf;
  result.noise -= result.signal;
  return result;
}

MatrixXd RidgeFits::attention(double lambda) const {
  require(lambda >= 0, "lambda", lambda, "lambda >= 0");
  MatrixXd g;
  if (lambda == 0) {
    g = projector().g;
  } else {
    g = solve(lambda).y * u_.transpose();
    if (wide_) g = MatrixXd::Identity(g.rows(), g.cols()) - g;
  }
  MatrixXd a = -(g.diagonal().cwiseInverse().asDiagonal() * g);
  a.diagonal().setZero();
  return a;
}

}  // namespace attica
