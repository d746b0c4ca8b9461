#include "attica/sim/gauss/ridge.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <limits>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/normal_matrix.hpp"
#include "attica/sim/gauss/tridiagonal.hpp"
#include "attica/sim/networks/gemm.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using networks::Into;

namespace {

/// Below it a site has no component in the kernel of S.
constexpr double kNoComponent = 1e-10;
/// What two rows of a chain's factor differ by for rounding, in norms of a row.
constexpr double kChainRounding = 1e-14;
/// Sites whose samples are one product: the triangle costs little more than its half.
constexpr Index kSitesAtOnce = 48;
/// Sites whose rows are worked on together, and of those that are left.
constexpr int kSitesInRegisters = 16;
constexpr int kFewSites = 4;

RidgeFit fit_of(Index sites) {
  const VectorXd none(sites);
  return {.test = none, .train = none, .overlap_m = none, .overlap_q = none, .weight_norm2 = none};
}

}  // namespace

VectorXd chain_slopes(const MatrixXd& factor) {
  const Index n = factor.rows();
  VectorXd slopes = VectorXd::Zero(n);
  slopes.tail(n - 1) = factor.diagonal(-1).cwiseQuotient(factor.diagonal().head(n - 1));
  const VectorXd tolerance = kChainRounding * factor.rowwise().norm();
  for (Index j = 0; j + 2 < n; ++j) {
    const Index below = n - j - 2;
    const auto gap = factor.col(j).tail(below) -
                     slopes.tail(below).cwiseProduct(factor.col(j).segment(j + 1, below));
    if (!(gap.cwiseAbs().array() <= tolerance.tail(below).array()).all()) return {};
  }
  return slopes;
}

MatrixXd gaussian_samples(const MatrixXd& factor, bool lower, Index samples, RandomStream& stream) {
  MatrixXd white = normal_matrix(samples, factor.cols(), stream);
  if (lower) {
    if (const VectorXd slopes = chain_slopes(factor); slopes.size() > 0) {
      white.col(0) *= factor(0, 0);
      for (Index i = 1; i < white.cols(); ++i) {
        white.col(i) = slopes[i] * white.col(i - 1) + factor(i, i) * white.col(i);
      }
      return white;
    }
  }
  MatrixXd result(samples, factor.rows());
  for (Index i = 0; i < factor.rows(); i += kSitesAtOnce) {
    const Index sites = std::min(kSitesAtOnce, factor.rows() - i);
    const Index depth = lower ? i + sites : factor.cols();
    networks::multiply(white.leftCols(depth),
                       factor.block(i, 0, sites, depth).transpose(),
                       result.middleCols(i, sites),
                       Into::overwrite);
  }
  return result;
}

MatrixXd resampled_rows(const MatrixXd& rows, Index samples, RandomStream& stream) {
  MatrixXd drawn(samples, rows.cols());
  for (Index mu = 0; mu < samples; ++mu) {
    drawn.row(mu) =
        rows.row(static_cast<Index>(stream.below(static_cast<std::uint64_t>(rows.rows()))));
  }
  return drawn;
}

RidgeFits::RidgeFits(const MatrixXd& data, MatrixXd factor)
    : samples_(data.rows()), wide_(data.rows() < data.cols()), factor_(std::move(factor)) {
  const double scale = 1.0 / static_cast<double>(samples_);
  const Index side = std::min(data.rows(), data.cols());
  MatrixXd gram = MatrixXd::Zero(side, side);
  if (wide_) {
    gram.selfadjointView<Eigen::Lower>().rankUpdate(data, scale);
  } else {
    gram.selfadjointView<Eigen::Lower>().rankUpdate(data.transpose(), scale);
  }
  TridiagonalForm reduced = tridiagonal_form(gram);
  diagonal_ = std::move(reduced.diagonal);
  subdiagonal_ = std::move(reduced.subdiagonal);
  if (wide_) {
    u_.resize(data.cols(), side);
    networks::multiply(data.transpose(), reduced.q, u_, Into::overwrite);
    u_ *= std::sqrt(scale);
  } else {
    u_ = std::move(reduced.q);
  }
  uf_.resize(side, factor_.cols());
  networks::multiply(u_.transpose(), factor_, uf_, Into::overwrite);
  if (wide_) uf_ *= -1;
}

RidgeFits::Pivots RidgeFits::pivots(double lambda) const {
  const Index n = diagonal_.size();
  Pivots result{.lambda = lambda, .inverse = VectorXd(n), .lower = VectorXd::Zero(n)};
  for (Index k = 0; k < n; ++k) {
    double pivot = diagonal_(k) + lambda;
    if (k > 0) {
      result.lower(k - 1) = subdiagonal_(k - 1) * result.inverse(k - 1);
      pivot -= result.lower(k - 1) * subdiagonal_(k - 1);
    }
    if (!(pivot > 0)) {
      throw Error(ErrorKind::numerical,
                  fmt::format("ridge: factorisation failed at lambda = {}, M = {}: the penalty is "
                              "lost in the rounding of a singular Gram matrix",
                              lambda,
                              samples_));
    }
    result.inverse(k) = 1 / pivot;
  }
  return result;
}

template <int Sites>
RidgeFits::Solution<Sites> RidgeFits::solve(const Pivots& pivots, Index first, Index sites) const {
  using Column = Eigen::Array<double, Sites, 1>;
  const Index n = diagonal_.size();
  const auto u = u_.middleRows<Sites>(first, sites).array();
  Eigen::Array<double, Sites, Eigen::Dynamic> y(sites, n);
  Column last = Column::Zero(sites);
  for (Index k = 0; k < n; ++k) {
    last = u.col(k) - (k > 0 ? pivots.lower(k - 1) : 0.0) * last;
    y.col(k) = last;
  }
  Column overlap = Column::Zero(sites);
  Column norm2 = Column::Zero(sites);
  for (Index k = n - 1; k >= 0; --k) {
    last = y.col(k) * pivots.inverse(k) - (k + 1 < n ? pivots.lower(k) : 0.0) * last;
    y.col(k) = last;
    overlap += u.col(k) * last;
    norm2 += last.square();
  }
  return {.y = y, .overlap = overlap, .norm2 = norm2};
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
  const auto tolerance = static_cast<double>(std::max(samples_, sites)) *
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

RidgeFits::Inverse<Eigen::Dynamic> RidgeFits::inverse(double lambda) const {
  require(lambda >= 0, "lambda", lambda, "lambda >= 0");
  if (lambda > 0) return inverse<Eigen::Dynamic>(pivots(lambda), 0, u_.rows());
  const Projector p = projector();
  return {p.g.diagonal(), p.g * factor_, p.train_top, p.g.rowwise().squaredNorm()};
}

template <int Sites>
RidgeFits::Inverse<Sites> RidgeFits::inverse(const Pivots& pivots, Index first, Index sites) const {
  const double lambda = pivots.lambda;
  const Solution<Sites> s = solve<Sites>(pivots, first, sites);
  Inverse<Sites> result;
  if (wide_) {
    // With K = Z Z^T / M = Q T Q^T: lambda G = 1 - Z^T (K + lambda)^{-1} Z / M = 1 - Y U^T, and
    // [G S G]_ii = |Y_i|^2. Everything is multiplied by lambda, which the ratios do not see;
    // lambda^2 G G = lambda G - lambda^2 G S G.
    result.g = 1.0 - s.overlap.array();
    result.train_top = lambda * lambda * s.norm2;
    result.norm2 = result.g - lambda * s.norm2;
    result.gf = factor_.middleRows(first, sites);
    networks::multiply(s.y, uf_, result.gf, Into::add);
  } else {
    // S = Q T Q^T: G = Y Q^T, [G G]_ii = |Y_i|^2 and G S G = G - lambda G G, whose rounding is far
    // below the train error except where that is zero anyway.
    result.g = s.overlap;
    result.train_top = (s.overlap - lambda * s.norm2).cwiseMax(0.0);
    result.norm2 = s.norm2;
    result.gf.resize(sites, factor_.cols());
    networks::multiply(s.y, uf_, result.gf, Into::overwrite);
  }
  return result;
}

template <int Sites>
void RidgeFits::fit_from(const Inverse<Sites>& inverse, Index first, RidgeFit& fit) const {
  using Column = Eigen::Array<double, Sites, 1>;
  const Index sites = inverse.g.size();
  const auto factor = factor_.middleRows<Sites>(first, sites).array();
  const auto gf = inverse.gf.array();
  // Row i of A F is that of F - G F / G_ii; Sigma = F F^T.
  const Column scale = inverse.g.array().inverse();
  Column test = Column::Zero(sites);
  Column m = test;
  Column q = test;
  Column residual = test;
  Column prediction = test;
  for (Index j = 0; j < gf.cols(); ++j) {
    residual = scale * gf.col(j);
    prediction = factor.col(j) - residual;
    test += residual.square();
    m += prediction * factor.col(j);
    q += prediction.square();
  }
  fit.test.segment<Sites>(first, sites) = test;
  fit.train.segment<Sites>(first, sites) = inverse.train_top.array() * scale.square();
  fit.overlap_m.segment<Sites>(first, sites) = m;
  fit.overlap_q.segment<Sites>(first, sites) = q;
  fit.weight_norm2.segment<Sites>(first, sites) = inverse.norm2.array() * scale.square() - 1.0;
}

RidgeFit RidgeFits::fit(double lambda) const {
  const Index all = u_.rows();
  RidgeFit fit = fit_of(all);
  if (!(lambda > 0)) {
    fit_from(inverse(lambda), 0, fit);
    return fit;
  }
  // A few sites at a time stay in the cache, their sums in registers.
  const Pivots shared = pivots(lambda);
  Index first = 0;
  for (; first + kSitesInRegisters <= all; first += kSitesInRegisters) {
    fit_from(inverse<kSitesInRegisters>(shared, first, kSitesInRegisters), first, fit);
  }
  for (; first + kFewSites <= all; first += kFewSites) {
    fit_from(inverse<kFewSites>(shared, first, kFewSites), first, fit);
  }
  if (first < all) fit_from(inverse<Eigen::Dynamic>(shared, first, all - first), first, fit);
  return fit;
}

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
  const Inverse<Eigen::Dynamic> all = inverse(lambda);
  const auto sigma2 = best.noise_variances.asDiagonal();
  RidgeSplit result{.fit = fit_of(u_.rows()), .signal = {}, .noise = {}};
  fit_from(all, 0, result.fit);
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
    g = solve<Eigen::Dynamic>(pivots(lambda), 0, u_.rows()).y * u_.transpose();
    if (wide_) g = MatrixXd::Identity(g.rows(), g.cols()) - g;
  }
  MatrixXd a = -(g.diagonal().cwiseInverse().asDiagonal() * g);
  a.diagonal().setZero();
  return a;
}

}  // namespace attica
