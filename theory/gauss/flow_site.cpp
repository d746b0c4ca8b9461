#include "attica/theory/gauss/flow_site.hpp"

#include <algorithm>
#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "attica/theory/ridge_kappa.hpp"

namespace attica {

using Complex = std::complex<double>;
using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

double df2(const ArrayXd& spectrum, double kappa) {
  return (spectrum / (spectrum + kappa)).square().sum();
}

// Where df2 falls through `level` as x grows from low to high; df2(at(low)) >= level >=
// df2(at(high)).
template <class At>
double df2_root(const ArrayXd& spectrum, double level, double low, double high, At at) {
  const auto excess = [&](double x) { return df2(spectrum, at(x)) - level; };
  if (excess(low) <= 0) return low;
  if (excess(high) >= 0) return high;
  std::uintmax_t iterations = 200;
  const auto bracket = boost::math::tools::toms748_solve(
      excess,
      low,
      high,
      [](double a, double b) { return std::abs(b - a) <= 1e-10 * std::abs(b); },
      iterations);
  return bracket.second;
}

/// Left end of the contours: κ < -max ℓ with df2 = share M.
double left_end(const ArrayXd& spectrum, double samples, double share) {
  const double top = spectrum.maxCoeff();
  const double level = share * samples;
  const double nearest = top / std::sqrt(level);
  const double farthest = nearest * std::sqrt(static_cast<double>(spectrum.size()));
  const auto at = [&](double x) { return -top - x; };
  return at(df2_root(spectrum, level, nearest, farthest, at));
}

/// A bound from the right for the edge df2 = M of the physical region right of the spectrum.
double edge(const ArrayXd& spectrum, double samples) {
  const ArrayXd positive = spectrum.tail((spectrum > 0).count());
  if (samples < static_cast<double>(positive.size())) {
    const double far = std::sqrt(positive.square().sum() / samples);
    return df2_root(positive, samples, 0, far, [](double x) { return x; });
  }
  const double smallest = positive[0];
  const auto at = [&](double x) { return x - smallest; };
  return at(df2_root(positive, samples, smallest / std::sqrt(samples), smallest, at));
}

}  // namespace

/// Upper half of the nodes; the others are their conjugates. Arrays of equal length.
struct GaussianFlow::SiteView::Nodes {
  explicit Nodes(Index m) : z(m), inverse_z(m), h(m), dh_dz(m), w(m), noise(m), train(m) {}
  Eigen::ArrayXcd z, inverse_z, h, dh_dz;
  std::vector<FlowFirstOrder> first;  // empty at leading order
  Eigen::ArrayXcd w;                  // (κ/z) dz/2πi
  Eigen::ArrayXcd noise;              // (κ/z²) dz/2πi
  Eigen::ArrayXcd train;              // -(H + σ² (1/κ + ratio/z)) dz/2πi
};

void set_flow_allowances(const RidgeAllowance& test,
                         const RidgeAllowance& train,
                         FlowPoint& point) {
  const auto allowance = [](double error, double change, const RidgeAllowance& ridge) {
    const double leading = std::abs(error - change);
    const double relative = ridge.error > 0 ? ridge.allowance / ridge.error : 0;
    const double quadratic = leading > 0 ? 0.5 * change * change / leading : 0;
    return std::max(quadratic, relative * leading);
  };
  point.finite_size_test = allowance(point.test_error, point.finite_size_test, test);
  point.finite_size_train = allowance(point.train_error, point.finite_size_train, train);
}

std::vector<FlowNode> flow_nodes(const FlowContour& contour, Index count) {
  const double centre = 0.5 * (contour.left + contour.right);
  const double radius = 0.5 * (contour.right - contour.left);
  const double e = contour.clustering;
  const double both = 2 * static_cast<double>(count);
  std::vector<FlowNode> nodes;
  for (Index j = 0; j < count; ++j) {
    // φ on (0, π): the upper half.
    const double phi = 2 * std::numbers::pi * (static_cast<double>(j) + 0.5) / both;
    const double c = std::cos(phi / 2);
    const double s = std::sin(phi / 2);
    const Complex turn = std::polar(1.0, 2 * std::atan2(e * s, c));
    nodes.push_back({.kappa = centre + radius * turn,
                     .measure = radius * turn * (e / (both * (c * c + e * e * s * s)))});
  }
  return nodes;
}

GaussianFlow::SiteView::SiteView(const GaussianFlow& flow, Index site, double samples)
    : spectrum_(flow.spectrum_),
      target_(flow.targets_.empty() ? nullptr : &flow.targets_[static_cast<std::size_t>(site)]),
      ridge_(flow.ridge_),
      site_(site),
      samples_(samples),
      noise_(flow.noise_variances_[site]),
      determined_(flow.spectrum_[0] == 0 && flow.weights_(0, site) > 0),
      order_(flow.order_) {
  const ArrayXd w = flow.weights_.col(site);
  const ArrayXd inverse = (spectrum_ > 0).select(1 / spectrum_, 0.0);
  coefficients_.resize(4, spectrum_.size());
  coefficients_ << spectrum_.transpose(), w.transpose(), (w * spectrum_).transpose(),
      (w * inverse).transpose();
  spectral_noise_ = 1 / coefficients_.row(3).sum();
  const auto positive = static_cast<double>((spectrum_ > 0).count());
  rank_ = determined_ ? positive : positive - 1;
  powers_.resize(spectrum_.size(), 6);
}

std::vector<FlowPoint> GaussianFlow::SiteView::solve(std::span<const ResidualFilter> filters) {
  std::vector<FlowPoint> points = solve_flow(*this, spectrum_, filters);
  if (order_ != RidgeOrder::first) return points;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double time = filters[k].time;
    if (!(time > 0)) continue;  // nothing is learnt
    const RidgeSite beside = ridge_.site(site_, samples_, 1 / time);
    set_flow_allowances({.error = beside.test_error, .allowance = beside.finite_size_test},
                        {.error = beside.train_error, .allowance = beside.finite_size_train},
                        points[k]);
  }
  return points;
}

FlowResolvent GaussianFlow::SiteView::resolvent(Complex kappa) {
  const ArrayXd x = spectrum_ + kappa.real();
  const double y = kappa.imag();
  const ArrayXd inverse = 1 / (x.square() + y * y);
  const auto a = powers_.col(0).array(), b = powers_.col(1).array();
  const auto a2 = powers_.col(2).array(), b2 = powers_.col(3).array();
  powers_.col(0) = x * inverse;
  powers_.col(1) = -y * inverse;
  powers_.col(2) = a.square() - b.square();
  powers_.col(3) = 2 * a * b;
  powers_.col(4) = a * a2 - b * b2;
  powers_.col(5) = a * b2 + b * a2;
  const Eigen::Matrix<double, 4, 6> sums = coefficients_ * powers_;
  const auto sum = [&](int row, int power) {
    return Complex(sums(row, 2 * power - 2), sums(row, 2 * power - 1));
  };
  const Complex g1 = sum(1, 1), g2 = sum(1, 2), wl2 = sum(2, 2);
  FlowResolvent result;
  result.f = sum(0, 1) - wl2 / g1;
  result.df = -sum(0, 2) + (2.0 * sum(2, 3) - wl2 * g2 / g1) / g1;
  if (target_ != nullptr) {
    const Eigen::ArrayXcd r = 1.0 / (target_->s.cast<Complex>() + kappa);
    result.h = (target_->power * r).sum();
    result.dh = -(target_->power * r.square()).sum();
  } else if (determined_) {
    const Complex kg = kappa * g1;
    result.h = 1.0 / kg - 1.0;
    result.dh = -wl2 / (kg * kg);
  } else {
    result.h = spectral_noise_ * sum(3, 1) / g1 - 1.0;
    result.dh = spectral_noise_ * (sum(3, 1) * g2 / g1 - sum(3, 2)) / g1;
  }
  return result;
}

FlowFirstOrder GaussianFlow::SiteView::first_order(Complex kappa, const FlowResolvent& at) const {
  constexpr std::size_t kPowers = 4;
  const auto l = coefficients_.row(0).array();
  const Eigen::Array<Complex, 1, Eigen::Dynamic> rho = kappa / (l.cast<Complex>() + kappa);
  const Eigen::Array<Complex, 1, Eigen::Dynamic> wr = coefficients_.row(1).array() * rho;
  const Complex kappa_g1 = wr.sum();
  // A kernel of which the site has no part is not seen by it.
  const bool skip = coefficients_(0, 0) == 0 && !determined_;
  std::array<Complex, kPowers> mean, below, power;
  Eigen::Array<Complex, 1, Eigen::Dynamic> rho_j = rho;
  for (std::size_t j = 0; j < kPowers; ++j, rho_j *= rho) {
    mean[j] = (wr * rho_j).sum() / kappa_g1;
    below[j] = static_cast<double>(j + 1) * mean[j];
    for (std::size_t i = 0; i < j; ++i) below[j] -= mean[j - 1 - i] * below[i];
    power[j] = rho_j.sum() - below[j] - (skip ? 1.0 : 0.0);
  }
  const Eigen::Array<Complex, 1, Eigen::Dynamic> spread = wr * (rho - mean[0]).square();
  const Complex share = kappa / (kappa_g1 * kappa_g1);
  const Complex v1 = -kappa * kappa * at.dh;
  Complex v2 = share * spread.sum();
  Complex v3 = share * (spread * (1.0 - rho)).sum();
  if (target_ != nullptr) {
    const Eigen::ArrayXcd left = kappa / (target_->s.cast<Complex>() + kappa);
    const Eigen::ArrayXcd term = target_->power * left.square() * (1.0 - left);
    v2 = term.sum();
    v3 = (term * (1.0 - left)).sum();
  }

  const Complex gamma = (at.f + kappa * at.df) / samples_;
  const Complex scale = 1.0 / (1.0 - gamma);  // L
  const Complex d2 = scale / samples_ * (power[0] - 2.0 * power[1] + power[2]);
  const Complex d3 = scale / samples_ * (power[0] - 3.0 * power[1] + 3.0 * power[2] - power[3]);
  const Complex u = scale / kappa * (v2 + (1.0 - d2) * v1);
  const Complex curvature = 4.0 * d2 * d2 - 3.0 * d3;
  const Complex slope =  // κ dU/dκ
      scale / kappa * ((curvature + d2 - 1.0) * v1 - 4.0 * d2 * v2 + 3.0 * v3);
  return {.h = -(at.h + u),
          .dh_dz = scale * (at.dh + slope / kappa),
          .weight = scale * (1.0 - d2),
          .noise = scale * (gamma - d2),
          .train = scale / kappa * (v2 - d2 * v1 - noise_ * d2)};
}

double GaussianFlow::SiteView::z_at(double kappa) {
  return -kappa * (1 - resolvent(kappa).f.real() / samples_);
}

double GaussianFlow::SiteView::upper_edge() { return z_at(left_end(spectrum_, samples_, 1)); }

double GaussianFlow::SiteView::choose_left(double reach) {
  double left = 0;
  for (const double share : {0.1, 0.5, 0.8, 0.95, 0.99}) {
    left = left_end(spectrum_, samples_, share);
    if (z_at(left) <= reach) break;
  }
  return left;
}

double GaussianFlow::SiteView::excess_samples() const {
  return std::max(0.0, 1 - rank_ / samples_);
}

std::optional<FlowContour> GaussianFlow::SiteView::inner_contour(double left) const {
  constexpr double kThreshold = 0.1;
  if (std::abs(samples_ / rank_ - 1) <= kThreshold) return std::nullopt;
  const double zero = kappa_zero();
  const double nearest = edge(spectrum_, samples_);
  if (!(nearest < zero)) return std::nullopt;
  constexpr double kTowardsZero = 0.7;
  const double right = nearest + kTowardsZero * (zero - nearest);
  return FlowContour{.left = left,
                     .right = right,
                     .clustering = std::sqrt((zero - nearest) / (right - left)),
                     .residue_kappa = zero};
}

double outer_distance(const ArrayXd& spectrum, double time) {
  const double top = spectrum.maxCoeff();
  return time > 0 ? std::min(1 / time, top) : top;
}

FlowContour GaussianFlow::SiteView::outer_contour(double left, double time) const {
  const double right = ridge_.site(site_, samples_, outer_distance(spectrum_, time)).kappa;
  return {.left = left,
          .right = right,
          .clustering = std::sqrt((right - kappa_zero()) / (right - left))};
}

GaussianFlow::SiteView::Nodes GaussianFlow::SiteView::nodes(const FlowContour& contour, Index m) {
  Nodes result(m);
  const std::vector<FlowNode> circle = flow_nodes(contour, m);
  for (Index j = 0; j < m; ++j) {
    const auto& [kappa, share] = circle[static_cast<std::size_t>(j)];
    const FlowResolvent at = resolvent(kappa);
    const Complex z = -kappa * (1.0 - at.f / samples_);
    const Complex dz = -(1.0 - (at.f + kappa * at.df) / samples_);
    result.z[j] = z;
    result.inverse_z[j] = 1.0 / z;
    result.h[j] = at.h;
    result.dh_dz[j] = at.dh / dz;
    const Complex measure = dz * share;
    if (order_ == RidgeOrder::first) {
      result.first.push_back(first_order(kappa, at));
      result.first.back().train *= measure;
    }
    result.w[j] = kappa * result.inverse_z[j] * measure;
    result.noise[j] = result.w[j] * result.inverse_z[j];
    result.train[j] =
        -(at.h + noise_ * (1.0 / kappa + excess_samples() * result.inverse_z[j])) * measure;
  }
  return result;
}

// The double contour as a real quadratic form in (Re W, Im W) of the upper half: with
// K_jl = (H_j-H_l)/(z_j-z_l) and K*_jl the same with the conjugate of node l,
//   Σ over all = 2 Re Σ_jl (W_j W_l K_jl + W_j W̄_l K*_jl).
std::vector<FlowPoint> GaussianFlow::SiteView::integrate(const FlowContour& contour,
                                                         Index m,
                                                         std::span<const ResidualFilter> filters,
                                                         const std::vector<std::size_t>& chosen) {
  const Nodes nodes = this->nodes(contour, m);
  const auto count = static_cast<Index>(chosen.size());
  MatrixXd a(m, count);
  MatrixXd b(m, count);
  std::vector<FlowPoint> result(chosen.size(), FlowPoint{.status = FlowStatus::not_converged});
  // z = 0 outside the contour: its residue is one more node, with W = κ₀.
  const double kappa = contour.residue_kappa;
  const FlowResolvent zero = kappa > 0 ? resolvent(kappa) : FlowResolvent{};
  const Complex zero_dz = -(1.0 - (zero.f + kappa * zero.df) / samples_);
  for (Index k = 0; k < count; ++k) {
    const ResidualFilter& filter = filters[chosen[static_cast<std::size_t>(k)]];
    Complex noise = 0;
    Complex train = 0;
    Complex cross = 0;
    for (Index j = 0; j < m; ++j) {
      const Complex f = filter.value(nodes.z[j]);
      const Complex w = f * nodes.w[j];
      a(j, k) = w.real();
      b(j, k) = w.imag();
      noise += (1.0 - f) * (1.0 - f) * nodes.noise[j];
      train += f * f * nodes.train[j];
      cross += w * (nodes.h[j] - zero.h) * nodes.inverse_z[j];
    }
    FlowPoint& point = result[static_cast<std::size_t>(k)];
    point.noise_error = noise_ * 2 * noise.real();
    point.train_error = 2 * train.real() + noise_ * excess_samples();
    if (kappa > 0) {
      point.signal_error = kappa * (4 * cross.real() + kappa * (zero.dh / zero_dz).real());
    }
  }
  add_double_contour(nodes, a, b, result);
  if (order_ == RidgeOrder::first) add_first_order(contour, nodes, filters, chosen, a, b, result);
  for (FlowPoint& point : result) {
    point.test_error = noise_ + point.signal_error + point.noise_error;
  }
  return result;
}

// (2 W_1 - W) W' (H - H') is taken apart into squares, with W_± = W ± W_1:
//   2 W_1 W' = ½ (W_+ W_+' - W_- W_-').
void GaussianFlow::SiteView::add_first_order(const FlowContour& contour,
                                             const Nodes& nodes,
                                             std::span<const ResidualFilter> filters,
                                             const std::vector<std::size_t>& chosen,
                                             const MatrixXd& a,
                                             const MatrixXd& b,
                                             std::vector<FlowPoint>& points) {
  const Index m = nodes.z.size();
  const double kappa = contour.residue_kappa;
  FlowResolvent zero;
  FlowFirstOrder zero_first;
  Complex zero_dz = 1;
  if (kappa > 0) {
    zero = resolvent(kappa);
    zero_first = first_order(kappa, zero);
    zero_dz = -(1.0 - (zero.f + kappa * zero.df) / samples_);
  }
  Nodes changed = nodes;  // with -(H + U) in place of H
  for (Index j = 0; j < m; ++j) {
    changed.h[j] = nodes.first[static_cast<std::size_t>(j)].h;
    changed.dh_dz[j] = nodes.first[static_cast<std::size_t>(j)].dh_dz;
  }
  // The quadratic form of W (1 + sign L (1-D₂)), that of the residue included.
  const auto form = [&](const Nodes& at, double sign, Complex zero_h, Complex zero_slope) {
    Eigen::MatrixXcd w(m, a.cols());
    w.real() = a;
    w.imag() = b;
    for (Index j = 0; j < m; ++j) {
      w.row(j) *= 1.0 + sign * nodes.first[static_cast<std::size_t>(j)].weight;
    }
    std::vector<FlowPoint> sums(points.size());
    if (kappa > 0) {
      const double residue = kappa * (1.0 + sign * zero_first.weight).real();
      const Eigen::ArrayXcd slopes = (at.h - zero_h) * at.inverse_z;
      for (Index k = 0; k < w.cols(); ++k) {
        sums[static_cast<std::size_t>(k)].signal_error =
            residue * (4 * (w.col(k).array() * slopes).sum().real() + residue * zero_slope.real());
      }
    }
    add_double_contour(at, w.real(), w.imag(), sums);
    return sums;
  };
  const std::vector<FlowPoint> minus_u = form(changed, 0, zero_first.h, zero_first.dh_dz);
  const std::vector<FlowPoint> sum = form(nodes, 1, zero.h, zero.dh / zero_dz);
  const std::vector<FlowPoint> difference = form(nodes, -1, zero.h, zero.dh / zero_dz);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const ResidualFilter& filter = filters[chosen[k]];
    Complex noise = 0;
    Complex train = 0;
    for (Index j = 0; j < m; ++j) {
      const FlowFirstOrder& first = nodes.first[static_cast<std::size_t>(j)];
      const Complex f = filter.value(nodes.z[j]);
      noise += (1.0 - f) * (1.0 - f) * nodes.noise[j] * first.noise;
      train += f * f * first.train;
    }
    const double signal_change =
        (minus_u[k].signal_error + 0.5 * (sum[k].signal_error - difference[k].signal_error)) /
        samples_;
    const double noise_change = noise_ * 2 * noise.real() / samples_;
    const double train_change = 2 * train.real() / samples_;
    points[k].signal_error += signal_change;
    points[k].noise_error += noise_change;
    points[k].train_error += train_change;
    points[k].finite_size_test = signal_change + noise_change;
    points[k].finite_size_train = train_change;
  }
}

void GaussianFlow::SiteView::add_double_contour(const Nodes& nodes,
                                                const MatrixXd& a,
                                                const MatrixXd& b,
                                                std::vector<FlowPoint>& points) {
  constexpr Index kColumns = 32;  // the kernel is made in stripes: it need not fit into memory
  const Index m = a.rows();
  const ArrayXd zr = nodes.z.real();
  const ArrayXd zi = nodes.z.imag();
  const ArrayXd hr = nodes.h.real();
  const ArrayXd hi = nodes.h.imag();
  MatrixXd aa(m, kColumns);
  MatrixXd bb(m, kColumns);
  MatrixXd ab(m, kColumns);
  MatrixXd left_a;
  MatrixXd left_b;
  for (Index first = 0; first < m; first += kColumns) {
    const Index columns = std::min(kColumns, m - first);
    for (Index c = 0; c < columns; ++c) {
      const Index l = first + c;
      // (H_j-H_l)/(z_j-z_l), near, and the same with the conjugate of node l, far: they differ in
      // the sign of Im H_l and Im z_l.
      const ArrayXd x = zr - zr[l];
      const ArrayXd u = hr - hr[l];
      const ArrayXd near = 1 / (x.square() + (zi - zi[l]).square());
      const ArrayXd far = 1 / (x.square() + (zi + zi[l]).square());
      const ArrayXd near_real = (u * x + (hi - hi[l]) * (zi - zi[l])) * near;
      const ArrayXd far_real = (u * x + (hi + hi[l]) * (zi + zi[l])) * far;
      aa.col(c) = far_real + near_real;
      bb.col(c) = far_real - near_real;
      // With W = a + ib the mixed term of row j and column l is a_j b_l times this.
      ab.col(c) = ((hi + hi[l]) * x - u * (zi + zi[l])) * far -
                  ((hi - hi[l]) * x - u * (zi - zi[l])) * near;
      const double other = hi[l] / zi[l];  // (H_l - conj H_l)/(z_l - conj z_l), real
      aa(l, c) = other + nodes.dh_dz[l].real();
      bb(l, c) = other - nodes.dh_dz[l].real();
      ab(l, c) = -nodes.dh_dz[l].imag();
    }
    // Filters come with rising time, and nodes with rising Re z: e^{-zt} has vanished in the last
    // columns first.
    Index active = a.cols();
    while (active > 0 && a.col(active - 1).segment(first, columns).isZero(0) &&
           b.col(active - 1).segment(first, columns).isZero(0)) {
      --active;
    }
    const auto a_active = a.leftCols(active);
    const auto b_active = b.leftCols(active);
    left_a.noalias() = aa.leftCols(columns).transpose() * a_active;
    left_b.noalias() = bb.leftCols(columns).transpose() * b_active;
    left_b.noalias() += 2 * ab.leftCols(columns).transpose() * a_active;
    for (Index k = 0; k < active; ++k) {
      points[static_cast<std::size_t>(k)].signal_error +=
          2 * (a.col(k).segment(first, columns).dot(left_a.col(k)) +
               b.col(k).segment(first, columns).dot(left_b.col(k)));
    }
  }
}

}  // namespace attica
