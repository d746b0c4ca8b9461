#include "attica/theory/gauss/flow.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>

#include "attica/core/parallel.hpp"
#include "attica/theory/gauss/flow_site.hpp"
#include "attica/theory/gauss/lanes.hpp"
#include "attica/theory/gauss/site_regression.hpp"
#include "attica/theory/ridge_kappa.hpp"

// The average over sites needs the contour's kernel only once: on nodes z_j that all sites share,
//   W_j W_l Σ_i κ_ij κ_il (H_ij - H_il)/(z_j - z_l),  W = f(z) dz/(2πi z),
// where κ_ij solves z_i(κ) = z_j. For z off the real axis one solution alone has Im κ of the other
// sign than Im z (Silverstein and Choi 1995, J. Multivariate Anal. 54:295), so a root that Newton's
// method finds there is the right one. The numerators are products of matrices over the sites.

namespace attica {

using Complex = std::complex<double>;
using Eigen::ArrayXcd;
using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

/// Some nodes side by side.
struct Complexes {
  Lanes re{};
  Lanes im{};

  Complex operator[](Index k) const { return {re[k], im[k]}; }
  void set(Index k, Complex value) {
    re[k] = value.real();
    im[k] = value.imag();
  }
  Lanes square() const { return re * re + im * im; }
};

Complexes operator+(const Complexes& a, const Complexes& b) { return {a.re + b.re, a.im + b.im}; }
Complexes operator-(const Complexes& a, const Complexes& b) { return {a.re - b.re, a.im - b.im}; }
Complexes operator*(const Complexes& a, const Complexes& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Complexes operator*(double a, const Complexes& b) { return {a * b.re, a * b.im}; }
Complexes operator+(double a, const Complexes& b) { return {a + b.re, b.im}; }
Complexes operator-(double a, const Complexes& b) { return {a - b.re, -b.im}; }
Complexes operator-(const Complexes& a) { return {-a.re, -a.im}; }
Complexes inverse(const Complexes& a) {
  const Lanes size = 1.0 / a.square();
  return {a.re * size, -a.im * size};
}
Complexes operator/(const Complexes& a, const Complexes& b) { return a * inverse(b); }
void add(double weight, const Complexes& term, Complexes& sum) {
  sum.re += weight * term.re;
  sum.im += weight * term.im;
}

/// N_jl = Σ_p left_jp right_lp, antisymmetric, over z_j - z_l; `diagonal` is its limit.
struct Kernel {
  Kernel(Index nodes, Index terms)
      : left_re(nodes, terms),
        left_im(nodes, terms),
        right_re(nodes, terms),
        right_im(nodes, terms),
        diagonal(ArrayXcd::Zero(nodes)) {}

  void set(Index node, Index term, Complex left, Complex right) {
    left_re(node, term) = left.real();
    left_im(node, term) = left.imag();
    right_re(node, term) = right.real();
    right_im(node, term) = right.imag();
  }

  MatrixXd left_re, left_im, right_re, right_im;
  ArrayXcd diagonal;
};

/// Σ W_j W_l N_jl/(z_j - z_l) over all nodes, of which `z` and `kernel` know the upper half, for
/// every column W = a + ib: with K the kernel and K* that to the conjugate of node l,
///   2 Re Σ_jl (W_j W_l K_jl + W_j W̄_l K*_jl).
/// The sum is symmetric in j and l: l <= j suffices.
ArrayXd double_contour(const ArrayXcd& z,
                       const Kernel& kernel,
                       const MatrixXd& a,
                       const MatrixXd& b) {
  constexpr Index kColumns = 32;  // the kernel is made in stripes: it need not fit into memory
  const Index m = z.size();
  const ArrayXd zr = z.real();
  const ArrayXd zi = z.imag();
  std::vector<ArrayXd> sums(static_cast<std::size_t>((m + kColumns - 1) / kColumns));
  in_parallel(sums.size(), [&](std::size_t stripe) {
    const Index first = static_cast<Index>(stripe) * kColumns;
    const Index columns = std::min(kColumns, m - first);
    // Filters come with rising time, and nodes with rising Re z: e^{-zt} has vanished in the last
    // columns first.
    Index active = a.cols();
    while (active > 0 && a.col(active - 1).segment(first, columns).isZero(0) &&
           b.col(active - 1).segment(first, columns).isZero(0)) {
      --active;
    }
    sums[stripe].setZero(a.cols());
    if (active == 0) return;
    const Index rows = m - first;
    MatrixXd with_re, with_im, a_rows, b_rows, form;
    MatrixXd right(2 * columns, kernel.right_re.cols());
    right << kernel.right_re.middleRows(first, columns), kernel.right_im.middleRows(first, columns);
    with_re.noalias() = kernel.left_re.bottomRows(rows) * right.transpose();
    with_im.noalias() = kernel.left_im.bottomRows(rows) * right.transpose();
    a_rows.setZero(rows, 2 * columns);  // what multiplies a_j a_l, a_j b_l
    b_rows.setZero(rows, 2 * columns);  // b_j a_l, b_j b_l
    for (Index c = 0; c < columns; ++c) {
      const Index l = first + c;
      const Index below = rows - c;
      const auto rr = with_re.col(c).tail(below).array();
      const auto ri = with_re.col(columns + c).tail(below).array();
      const auto ir = with_im.col(c).tail(below).array();
      const auto ii = with_im.col(columns + c).tail(below).array();
      const ArrayXd x = zr.tail(below) - zr[l];
      const ArrayXd near_y = zi.tail(below) - zi[l];
      const ArrayXd far_y = zi.tail(below) + zi[l];
      ArrayXd near = 1 / (x.square() + near_y.square());
      near[0] = 0;
      const ArrayXd far = 1 / (x.square() + far_y.square());
      ArrayXd near_re = ((rr - ii) * x + (ri + ir) * near_y) * near;
      ArrayXd near_im = ((ri + ir) * x - (rr - ii) * near_y) * near;
      ArrayXd far_re = ((rr + ii) * x + (ir - ri) * far_y) * far;
      ArrayXd far_im = ((ir - ri) * x - (rr + ii) * far_y) * far;
      // Twice for the two halves, and again for the other triangle.
      near_re[0] = 0.5 * kernel.diagonal[l].real();
      near_im[0] = 0.5 * kernel.diagonal[l].imag();
      far_re[0] *= 0.5;
      far_im[0] *= 0.5;
      a_rows.col(c).tail(below) = 4 * (far_re + near_re);
      a_rows.col(columns + c).tail(below) = 4 * (far_im - near_im);
      b_rows.col(c).tail(below) = -4 * (far_im + near_im);
      b_rows.col(columns + c).tail(below) = 4 * (far_re - near_re);
    }
    form.noalias() = a_rows.transpose() * a.bottomLeftCorner(rows, active);
    form.noalias() += b_rows.transpose() * b.bottomLeftCorner(rows, active);
    sums[stripe].head(active) =
        (a.block(first, 0, columns, active).array() * form.topRows(columns).array() +
         b.block(first, 0, columns, active).array() * form.bottomRows(columns).array())
            .colwise()
            .sum()
            .transpose();
  });
  ArrayXd sum = ArrayXd::Zero(a.cols());
  for (const ArrayXd& part : sums) sum += part;
  return sum;
}

}  // namespace

/// @brief Every kind of site once, on contours that they share.
class GaussianFlow::AllSites {
 public:
  AllSites(const GaussianFlow& flow, double samples) : samples_(samples), order_(flow.order_) {
    for (const auto& [site, share] : flow.ridge_.kinds()) {
      views_.emplace_back(flow, site, samples);
      shares_.push_back(share);
    }
  }

  double upper_edge() {
    double highest = 0;
    for (SiteView& view : views_) highest = std::max(highest, view.upper_edge());
    return highest;
  }

  double choose_left(double reach) {
    double nearest = -std::numeric_limits<double>::infinity();
    for (SiteView& view : views_) nearest = std::max(nearest, view.choose_left(reach));
    return nearest;
  }

  /// A circle in the κ plane of one site, which stands for its image in the z plane.
  struct Contour {
    std::size_t reference = 0;
    FlowContour circle;
    std::vector<double> residues;  ///< κ₀ of every site; empty: z = 0 lies inside
  };

  std::optional<Contour> inner_contour(double left) {
    Contour contour;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const std::optional<FlowContour> own = views_[i].inner_contour(left);
      if (!own) return std::nullopt;
      contour.residues.push_back(own->residue_kappa);
      const double passes = views_[i].z_at(own->right);
      if (passes >= lowest) continue;
      lowest = passes;
      contour.reference = i;
      contour.circle = *own;
    }
    enclose(left, contour);
    return contour;
  }

  Contour outer_contour(double left, double time) {
    Contour contour;
    double closest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const FlowContour own = views_[i].outer_contour(left, time);
      if (own.clustering >= closest) continue;
      closest = own.clustering;
      contour.reference = i;
      contour.circle = own;
    }
    enclose(left, contour);
    return contour;
  }

  /// @return none if a node's κ is not found at some site
  std::vector<FlowPoint> integrate(const Contour& contour,
                                   Index m,
                                   std::span<const ResidualFilter> filters,
                                   const std::vector<std::size_t>& chosen) {
    std::optional<Sums> sums = sums_over_sites(contour, m);
    if (!sums) return {};
    const bool first = order_ == RidgeOrder::first;
    const auto count = static_cast<Index>(chosen.size());
    MatrixXd a(m, count);
    MatrixXd b(m, count);
    std::vector<FlowPoint> result(chosen.size(), FlowPoint{.status = FlowStatus::not_converged});
    for (Index k = 0; k < count; ++k) {
      const ResidualFilter& filter = filters[chosen[static_cast<std::size_t>(k)]];
      Complex noise = 0, train = 0, cross = 0;
      Complex noise_change = 0, train_change = 0, cross_change = 0;
      for (Index j = 0; j < m; ++j) {
        const Complex f = filter.value(sums->z[j]);
        const Complex w = f * sums->measure[j] / sums->z[j];
        a(j, k) = w.real();
        b(j, k) = w.imag();
        const Complex learnt = (1.0 - f) * (1.0 - f);
        const Complex left = f * f;
        noise += learnt * sums->noise[j];
        train += left * sums->train[j];
        cross += w * sums->cross[j];
        if (!first) continue;
        noise_change += learnt * sums->noise_change[j];
        train_change += left * sums->train_change[j];
        cross_change += w * sums->cross_change[j];
      }
      FlowPoint& point = result[static_cast<std::size_t>(k)];
      const double changed_noise = 2 * noise_change.real() / samples_;
      const double changed_signal = (4 * cross_change.real() + sums->residue_change) / samples_;
      point.noise_error = 2 * noise.real() + changed_noise;
      point.signal_error = 4 * cross.real() + sums->residue + changed_signal;
      point.finite_size_test = changed_noise + changed_signal;
      point.finite_size_train = 2 * train_change.real() / samples_;
      point.train_error = 2 * train.real() + sums->unlearnable + point.finite_size_train;
    }
    ArrayXd signal = double_contour(sums->z, sums->kernel, a, b);
    if (first) {
      const ArrayXd change = double_contour(sums->z, sums->kernel_change, a, b) / samples_;
      signal += change;
      for (Index k = 0; k < count; ++k) {
        result[static_cast<std::size_t>(k)].finite_size_test += change[k];
      }
    }
    for (Index k = 0; k < count; ++k) {
      FlowPoint& point = result[static_cast<std::size_t>(k)];
      point.signal_error += signal[k];
      point.test_error = sums->mean_noise + point.signal_error + point.noise_error;
    }
    return result;
  }

 private:
  /// What the filters are integrated against, at the upper half of the nodes.
  struct Sums {
    Sums(Index m, Index sites, bool first)
        : z(m),
          measure(m),
          kernel(m, 2 * sites),
          kernel_change(first ? m : 0, 4 * sites),
          noise(ArrayXcd::Zero(m)),
          train(noise),
          cross(noise),
          noise_change(noise),
          train_change(noise),
          cross_change(noise) {}
    ArrayXcd z, measure;  // measure: dz/2πi
    Kernel kernel, kernel_change;
    ArrayXcd noise, train, cross;  // cross: the residue of z = 0 with a node
    ArrayXcd noise_change, train_change, cross_change;
    double residue = 0;  // of z = 0 with itself
    double residue_change = 0;
    double mean_noise = 0;   // σ²
    double unlearnable = 0;  // σ² max(0, 1 - N/M)
  };

  struct Zero {  // κ₀ and what belongs to it
    double kappa = 0;
    FlowResolvent at;
    FlowFirstOrder first;
  };

  struct Resolvents {
    Complexes f, df, h, dh;
  };

  /// As FlowResolvent; H and H' only if `all`.
  template <bool all>
  static Resolvents resolvents(const SiteView& view, const Complexes& kappa) {
    const auto& coefficients = view.coefficients();
    const Lanes y2 = kappa.im * kappa.im;
    Complexes f, df, g1, g2, wl2, wl3, n1, n2;
    for (Index k = 0; k < coefficients.cols(); ++k) {
      const double l = coefficients(0, k);
      const double w = coefficients(1, k);
      const double wl = coefficients(2, k);
      const double w_over_l = coefficients(3, k);
      const Lanes x = kappa.re + l;
      const Lanes size = 1.0 / (x * x + y2);
      const Complexes r{x * size, -kappa.im * size};
      const Complexes r2 = r * r;
      const Complexes r3 = r * r2;
      add(l, r, f);
      add(l, r2, df);
      add(w, r, g1);
      add(w, r2, g2);
      add(wl, r2, wl2);
      add(wl, r3, wl3);
      if constexpr (all) {
        add(w_over_l, r, n1);
        add(w_over_l, r2, n2);
      }
    }
    const Complexes per_g1 = inverse(g1);
    Resolvents result;
    result.f = f - wl2 * per_g1;
    result.df = (2.0 * wl3 - wl2 * g2 * per_g1) * per_g1 - df;
    if constexpr (all) {
      if (view.determined()) {
        const Complexes per_kg = inverse(kappa * g1);
        result.h = -1.0 + per_kg;
        result.dh = -(wl2 * per_kg * per_kg);
      } else {
        result.h = -1.0 + view.spectral_noise() * (n1 * per_g1);
        result.dh = view.spectral_noise() * ((n1 * g2 * per_g1 - n2) * per_g1);
      }
    }
    return result;
  }

  struct FirstOrders {
    Complexes h, dh_dz, weight, noise, train;
  };

  /// As FlowFirstOrder.
  FirstOrders first_orders(const SiteView& view,
                           const Complexes& kappa,
                           const Resolvents& at) const {
    constexpr std::size_t kPowers = 4;
    const auto& coefficients = view.coefficients();
    const Index n = coefficients.cols();
    std::vector<Complexes> rhos(static_cast<std::size_t>(n));  // κ/(ℓ+κ)
    std::array<Complexes, kPowers> mean, below, power;
    Complexes kappa_g1;
    for (Index k = 0; k < n; ++k) {
      const double w = coefficients(1, k);
      const Complexes rho = kappa / (coefficients(0, k) + kappa);
      rhos[static_cast<std::size_t>(k)] = rho;
      Complexes rho_j = rho;
      add(w, rho, kappa_g1);
      for (std::size_t j = 0; j < kPowers; ++j) {
        add(1, rho_j, power[j]);
        rho_j = rho_j * rho;
        add(w, rho_j, mean[j]);
      }
    }
    const Complexes per_kappa_g1 = inverse(kappa_g1);
    const double skipped = view.unseen_kernel() ? 1 : 0;
    for (std::size_t j = 0; j < kPowers; ++j) {
      mean[j] = mean[j] * per_kappa_g1;
      below[j] = static_cast<double>(j + 1) * mean[j];
      for (std::size_t i = 0; i < j; ++i) below[j] = below[j] - mean[j - 1 - i] * below[i];
      power[j] = -skipped + (power[j] - below[j]);
    }
    Complexes spread, spread_p;
    for (Index k = 0; k < n; ++k) {
      const Complexes& rho = rhos[static_cast<std::size_t>(k)];
      const Complexes from_mean = rho - mean[0];
      const Complexes term = rho * from_mean * from_mean;
      add(coefficients(1, k), term, spread);
      add(coefficients(1, k), term * (1.0 - rho), spread_p);
    }
    const Complexes share = kappa * per_kappa_g1 * per_kappa_g1;
    const Complexes v1 = -(kappa * kappa * at.dh);
    const Complexes v2 = share * spread;
    const Complexes v3 = share * spread_p;

    const double per_sample = 1 / samples_;
    const Complexes gamma = per_sample * (at.f + kappa * at.df);
    const Complexes scale = inverse(1.0 - gamma);  // L
    const Complexes d2 = per_sample * (scale * (power[0] - 2.0 * power[1] + power[2]));
    const Complexes d3 =
        per_sample * (scale * (power[0] - 3.0 * power[1] + 3.0 * power[2] - power[3]));
    const Complexes per_kappa = scale / kappa;
    const Complexes u = per_kappa * (v2 + (1.0 - d2) * v1);
    const Complexes curvature = 4.0 * (d2 * d2) - 3.0 * d3;
    const Complexes slope =  // κ dU/dκ
        per_kappa * ((-1.0 + (curvature + d2)) * v1 - 4.0 * (d2 * v2) + 3.0 * v3);
    return {.h = -(at.h + u),
            .dh_dz = scale * (at.dh + slope / kappa),
            .weight = scale * (1.0 - d2),
            .noise = scale * (gamma - d2),
            .train = per_kappa * (v2 - d2 * v1 - view.noise() * d2)};
  }

  /// Solves z(κ) = z from a start at every node; false if that fails.
  bool find_kappa(const SiteView& view, const Complexes& z, Complexes& kappa) const {
    constexpr int kMostSteps = 50;
    constexpr double kSettled = 1e-9;  // the next step is its square
    for (int step = 0; step < kMostSteps; ++step) {
      const Resolvents at = resolvents<false>(view, kappa);
      const Complexes residual = z + kappa * (1.0 - (1 / samples_) * at.f);
      const Complexes slope = -1.0 + (1 / samples_) * (at.f + kappa * at.df);
      const Complexes move = residual / slope;
      kappa = kappa + move;
      const Lanes moved = move.square();
      const Lanes size = kappa.square();
      bool settled = true;
      bool physical = true;
      for (Index k = 0; k < kLanes; ++k) {
        settled = settled && moved[k] <= kSettled * kSettled * size[k];
        physical = physical && kappa.im[k] * z.im[k] < 0;
      }
      if (settled) return physical;
    }
    return false;
  }

  std::optional<Sums> sums_over_sites(const Contour& contour, Index m) {
    const auto sites = static_cast<Index>(views_.size());
    const bool first = order_ == RidgeOrder::first;
    Sums sums(m, sites, first);
    SiteView& reference = views_[contour.reference];
    const std::vector<FlowNode> nodes = flow_nodes(contour.circle, m);
    for (Index j = 0; j < m; ++j) {
      const auto& [kappa, measure] = nodes[static_cast<std::size_t>(j)];
      const FlowResolvent at = reference.resolvent(kappa);
      sums.z[j] = -kappa * (1.0 - at.f / samples_);
      sums.measure[j] = -(1.0 - (at.f + kappa * at.df) / samples_) * measure;
    }

    // z = 0 outside the contour: its residue is one more node, with W = κ₀.
    std::vector<Zero> zeros;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      SiteView& view = views_[i];
      const double share = shares_[i];
      sums.mean_noise += share * view.noise();
      sums.unlearnable += share * view.noise() * view.excess_samples();
      Zero zero{.kappa = contour.residues.empty() ? 0 : contour.residues[i], .at = {}, .first = {}};
      if (zero.kappa > 0) {
        zero.at = view.resolvent(zero.kappa);
        const Complex dz = -(1.0 - (zero.at.f + zero.kappa * zero.at.df) / samples_);
        const double slope = (zero.at.dh / dz).real();
        const double weight = share * zero.kappa * zero.kappa;
        sums.residue += weight * slope;
        if (first) {
          zero.first = view.first_order(zero.kappa, zero.at);
          sums.residue_change +=
              weight * (2 * zero.first.weight.real() * slope + zero.first.dh_dz.real());
        }
      }
      zeros.push_back(zero);
    }

    std::atomic<bool> found = true;
    const auto registers = registers_of(m);
    in_parallel(registers, [&](std::size_t part) {
      const Index begin = static_cast<Index>(part) * kLanes;
      const Index lanes = std::min(kLanes, m - begin);
      Complexes z, kappa;
      for (Index k = 0; k < kLanes; ++k) {  // the last node again where there are no more
        const Index j = std::min(begin + k, m - 1);
        z.set(k, sums.z[j]);
        kappa.set(k, nodes[static_cast<std::size_t>(j)].kappa);
      }
      // From site to site κ changes little.
      for (Index i = 0; i < sites; ++i) {
        const auto number = static_cast<std::size_t>(i);
        const SiteView& view = views_[number];
        if (!found) return;
        if (!find_kappa(view, z, kappa)) {
          found = false;
          return;
        }
        const Resolvents at = resolvents<true>(view, kappa);
        const Complexes dz = -1.0 + (1 / samples_) * (at.f + kappa * at.df);
        FirstOrders changes;
        if (first) changes = first_orders(view, kappa, at);
        for (Index k = 0; k < lanes; ++k) {
          const FlowResolvent here{
              .f = at.f[k], .df = at.df[k], .h = at.h[k], .dh = at.dh[k] / dz[k]};
          add_node(begin + k, i, kappa[k], here, zeros[number], sums);
          if (first) {
            add_change(begin + k,
                       i,
                       kappa[k],
                       here,
                       {.h = changes.h[k],
                        .dh_dz = changes.dh_dz[k],
                        .weight = changes.weight[k],
                        .noise = changes.noise[k],
                        .train = changes.train[k]},
                       zeros[number],
                       sums);
          }
        }
      }
    });
    if (!found) return std::nullopt;
    return sums;
  }

  /// One site's part of a node. @param at H and its derivative by z
  void add_node(Index node,
                Index site,
                Complex kappa,
                const FlowResolvent& at,
                const Zero& zero,
                Sums& sums) const {
    const SiteView& view = views_[static_cast<std::size_t>(site)];
    const double share = shares_[static_cast<std::size_t>(site)];
    const Complex per_z = 1.0 / sums.z[node];
    const Complex measure = sums.measure[node];
    const Complex signal = share * kappa * at.h;
    sums.kernel.set(node, 2 * site, signal, kappa);
    sums.kernel.set(node, 2 * site + 1, -kappa, signal);
    sums.kernel.diagonal[node] += share * kappa * kappa * at.dh;
    sums.noise[node] += share * view.noise() * kappa * per_z * per_z * measure;
    sums.train[node] -=
        share * (at.h + view.noise() * (1.0 / kappa + view.excess_samples() * per_z)) * measure;
    sums.cross[node] += share * zero.kappa * kappa * (at.h - zero.at.h) * per_z;
  }

  /// What the terms of order 1/M, times M, add to it.
  void add_change(Index node,
                  Index site,
                  Complex kappa,
                  const FlowResolvent& at,
                  const FlowFirstOrder& change,
                  const Zero& zero,
                  Sums& sums) const {
    const SiteView& view = views_[static_cast<std::size_t>(site)];
    const double share = shares_[static_cast<std::size_t>(site)];
    const Complex per_z = 1.0 / sums.z[node];
    const Complex signal = share * kappa * at.h;
    const Complex both = share * kappa * (change.weight * at.h + change.h);
    const Complex weighted = kappa * change.weight;
    sums.kernel_change.set(node, 4 * site, both, kappa);
    sums.kernel_change.set(node, 4 * site + 1, -kappa, both);
    sums.kernel_change.set(node, 4 * site + 2, signal, weighted);
    sums.kernel_change.set(node, 4 * site + 3, -weighted, signal);
    sums.kernel_change.diagonal[node] +=
        share * kappa * kappa * (2.0 * change.weight * at.dh + change.dh_dz);
    sums.noise_change[node] +=
        share * view.noise() * kappa * per_z * per_z * sums.measure[node] * change.noise;
    sums.train_change[node] += share * change.train * sums.measure[node];
    sums.cross_change[node] +=
        share * zero.kappa * kappa * per_z *
        ((change.weight + zero.first.weight) * (at.h - zero.at.h) + (change.h - zero.first.h));
  }

  /// Moves the left end so that the circle's image encloses the spectrum of every site as far as
  /// their own would.
  void enclose(double left, Contour& contour) {
    double farthest = 0;
    for (SiteView& view : views_) farthest = std::max(farthest, view.z_at(left));
    SiteView& reference = views_[contour.reference];
    constexpr int kMostSteps = 20;
    constexpr double kEnough = 1e-6;
    for (int step = 0; step < kMostSteps; ++step) {
      const double missing = farthest - reference.z_at(left);
      if (missing <= kEnough * farthest) break;
      left -= missing;  // dz/dκ lies between -1 and 0 there
    }
    contour.circle.left = left;
  }

  double samples_;
  RidgeOrder order_;
  std::vector<SiteView> views_;
  std::vector<double> shares_;  ///< of the sites, one view each for those that are alike
};

GaussianFlow::GaussianFlow(const GaussianMlm& problem, RidgeOrder order)
    : noise_variances_(problem.noise_variances()), ridge_(problem, order), order_(order) {
  const Index rank = problem.rank();
  const Index offset = rank < problem.sites() ? 1 : 0;
  spectrum_.setZero(offset + rank);
  spectrum_.tail(rank) = problem.eigenvalues().tail(rank);
  weights_.resize(offset + rank, problem.sites());
  weights_.bottomRows(rank) = problem.eigenvectors().rightCols(rank).transpose().array().square();
  if (offset > 0) weights_.row(0) = problem.kernel_weights().transpose();
}

GaussianFlow::GaussianFlow(const GaussianMlm& problem, RidgeOrder order, const MatrixXd& start)
    : GaussianFlow(problem, order) {
  targets_.resize(static_cast<std::size_t>(sites()));
  in_parallel(targets_.size(), [&](std::size_t number) {
    const auto i = static_cast<Index>(number);
    const SiteRegression site = site_regression(problem, i);
    const Eigen::VectorXd from = start.row(i).transpose()(site.inputs);
    const ArrayXd left = (site.teacher - site.basis.transpose() * from).array();
    targets_[number] = {site.s, site.s * left.square()};
  });
}

double GaussianFlow::population_error(const ResidualFilter& filter) const {
  double sum = noise_variances_.sum();
  for (const Target& target : targets_) {
    sum += (target.power * target.s.unaryExpr([&](double z) { return filter(z); }).square()).sum();
  }
  return sum / static_cast<double>(sites());
}

std::vector<FlowPoint> GaussianFlow::site(Index site,
                                          double samples,
                                          std::span<const ResidualFilter> filters) const {
  require_samples(samples);
  (void)ridge_.site(site, samples, 1);  // refuses a site that does not exist
  return SiteView(*this, site, samples).solve(filters);
}

std::vector<FlowPoint> GaussianFlow::average(double samples,
                                             std::span<const ResidualFilter> filters) const {
  require_samples(samples);
  if (!targets_.empty()) return mean_of_sites(samples, filters);  // no two sites are alike
  AllSites all(*this, samples);
  std::vector<FlowPoint> result = solve_flow(all, spectrum_, filters);
  if (result.empty()) return mean_of_sites(samples, filters);
  if (order_ != RidgeOrder::first) return result;
  for (std::size_t k = 0; k < result.size(); ++k) {
    const double time = filters[k].time;
    if (!(time > 0)) continue;  // nothing is learnt
    const RidgePoint beside = ridge_.average(samples, 1 / time);
    set_flow_allowances({.error = beside.test_error, .allowance = beside.finite_size_test},
                        {.error = beside.train_error, .allowance = beside.finite_size_train},
                        result[k]);
  }
  return result;
}

std::vector<FlowPoint> GaussianFlow::mean_of_sites(double samples,
                                                   std::span<const ResidualFilter> filters) const {
  std::vector<FlowPoint> result(filters.size());
  const double share = 1 / static_cast<double>(sites());
  std::vector<std::vector<FlowPoint>> of_sites(static_cast<std::size_t>(sites()));
  in_parallel(of_sites.size(),
              [&](std::size_t i) { of_sites[i] = site(static_cast<Index>(i), samples, filters); });
  for (const std::vector<FlowPoint>& points : of_sites) {
    for (std::size_t k = 0; k < points.size(); ++k) {
      result[k].test_error += share * points[k].test_error;
      result[k].train_error += share * points[k].train_error;
      result[k].signal_error += share * points[k].signal_error;
      result[k].noise_error += share * points[k].noise_error;
      result[k].finite_size_test += share * points[k].finite_size_test;
      result[k].finite_size_train += share * points[k].finite_size_train;
      result[k].numerical_error += share * points[k].numerical_error;
      result[k].status = std::max(result[k].status, points[k].status);
    }
  }
  return result;
}

}  // namespace attica
